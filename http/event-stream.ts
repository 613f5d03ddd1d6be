import { Readable } from 'node:stream'
import { TIMED_OUT, withTimeout } from '../lib/base/deadline.js'
import { prefers } from './accept.js'

export const EVENT_STREAM = 'text/event-stream'
/** Milliseconds of silence after which an event stream of the API sends a comment. */
export const HEARTBEAT_MS = 15_000
const HEARTBEAT = ': heartbeat\n\n'

export interface ServerSentEvent {
  event: string
  data: unknown
}

export interface EventStreamOptions {
  /**
   * Milliseconds of silence after which a comment is sent, so that no proxy closes the connection as idle.
   */
  heartbeatMs: number
  /** Makes the event that reports an error after the stream has begun. */
  onError: (error: unknown) => ServerSentEvent
}

/**
 * Encodes events in the format of the HTML standard (section 9.2.6). It reads from the source only as fast as the
 * client reads, and ends the source when the client disconnects.
 */
export function eventStream (
  events: AsyncGenerator<ServerSentEvent, void>, { heartbeatMs, onError }: EventStreamOptions,
): Readable {
  return Readable.from(textsOf(events, heartbeatMs, onError), { highWaterMark: 1 })
}

async function * textsOf (
  events: AsyncGenerator<ServerSentEvent, void>, heartbeatMs: number, onError: EventStreamOptions['onError'],
): AsyncGenerator<string> {
  let next: Promise<IteratorResult<ServerSentEvent, void>> | undefined
  try {
    for (;;) {
      next ??= events.next()
      const result = await withTimeout(next, heartbeatMs)
      if (result === TIMED_OUT) {
        yield HEARTBEAT
        continue
      }
      next = undefined
      if (result.done === true) return
      yield format(result.value)
    }
  } catch (error) {
    yield format(onError(error))
  } finally {
    // The request's signal ends a step in progress, so it is not awaited and its outcome is ignored.
    next?.catch(() => {})
    void events.return().catch(() => {})
  }
}

/** JSON text on one line has no line feed, so one `data` line holds it. */
function format ({ event, data }: ServerSentEvent): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Whether an Accept header prefers events to JSON. */
export function wantsEvents (accept: string | undefined): boolean {
  return prefers(accept, EVENT_STREAM)
}
