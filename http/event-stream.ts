import type { Readable } from 'node:stream'
import { TIMED_OUT, withTimeout } from '../lib/concurrency/timeout.js'
import { backPressured, splitBytes } from './chunked-body.js'

export const EVENT_STREAM = 'text/event-stream'
const HEARTBEAT = Buffer.from(': heartbeat\n\n')

/** What a stream of events is made from. */
export interface ServerSentEvent {
  event: string
  data: unknown
}

export interface EventStreamOptions {
  /**
   * Milliseconds of silence after which a comment is sent, so that nothing between here and the client takes the
   * connection for dead.
   */
  heartbeatMs: number
  /** The event that tells of a failure in the middle. */
  onError: (error: unknown) => ServerSentEvent
}

/**
 * Events in the format of the HTML standard (section 9.2.6), read from their source only as fast as the client reads.
 * A client that leaves ends the source.
 */
export function eventStream (
  events: AsyncGenerator<ServerSentEvent, void>, { heartbeatMs, onError }: EventStreamOptions,
): Readable {
  return backPressured(chunks(events, heartbeatMs, onError))
}

async function * chunks (
  events: AsyncGenerator<ServerSentEvent, void>, heartbeatMs: number, onError: EventStreamOptions['onError'],
): AsyncGenerator<Buffer> {
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
      yield * format(result.value)
    }
  } catch (error) {
    yield * format(onError(error))
  } finally {
    // A step that is still under way ends by the request's signal; it is not waited for, and how it ends tells nobody
    // anything.
    next?.catch(() => {})
    void events.return().catch(() => {})
  }
}

/** JSON has no line feed outside of its escapes, so one `data` line holds it all. */
function format ({ event, data }: ServerSentEvent): Iterable<Buffer> {
  return splitBytes(Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`))
}

/** Whether a client that sends this Accept header would rather have events than JSON (RFC 9110 section 12.5.1). */
export function wantsEvents (accept: string | undefined): boolean {
  if (accept === undefined) return false
  const weights = new Map(accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return [type, weight === undefined ? 1 : Number(weight.slice(2))]
  }))
  const events = weights.get(EVENT_STREAM) ?? 0
  return events > 0 && events >= (weights.get('application/json') ?? 0)
}
