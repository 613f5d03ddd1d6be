import { errorOfEvent, MAX_ANSWER_BYTES, MemoryGatewayError, parseObject } from './errors.js'
import type { Deadline } from './timing.js'
import type { ReflectEvent } from './types.js'

/** The lines of a body, without their line feeds. The deadline limits only the time in which nothing arrives. */
export async function * linesOf (
  { body }: Response, deadline: Pick<Deadline, 'restart' | 'pause'>,
): AsyncGenerator<string, void> {
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let partialLine = ''
  try {
    for (;;) {
      deadline.restart()
      const { done, value } = await reader.read()
      deadline.pause()
      const [first = '', ...more] = decode(decoder, value).split('\n')
      partialLine += first
      for (const next of more) {
        yield partialLine
        partialLine = next
      }
      if (partialLine.length > MAX_ANSWER_BYTES) {
        throw new MemoryGatewayError('unusable_answer', `A line has more than ${MAX_ANSWER_BYTES} characters`)
      }
      if (done) break
    }
    if (partialLine !== '') throw new MemoryGatewayError('connection_lost', 'The answer ends within a line')
  } finally {
    // Closes the connection if lines are unread; no effect after the end of the body.
    void reader.cancel().catch(() => {})
  }
}

function decode (decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array | undefined): string {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined })
  } catch (cause) {
    throw new MemoryGatewayError('unusable_answer', 'The answer is not valid UTF-8', { cause })
  }
}

/**
 * The events of a stream (HTML standard, section 9.2.6). Comments, which the gateway sends as heartbeats, are skipped.
 */
async function * eventsOf (lines: AsyncIterable<string>): AsyncGenerator<{ event: string, data: string }, void> {
  let event = ''
  let data: string[] = []
  for await (const line of lines) {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*?))?\r?$/s.exec(line) ?? []
    if (field === 'event') event = value
    else if (field === 'data') data.push(value)
    else if (line.trimEnd() === '') {
      if (data.length > 0) yield { event, data: data.join('\n') }
      event = ''
      data = []
    }
  }
}

/** @throws MemoryGatewayError for the event `error`, and when the stream ends without `done` */
export async function * reflectEventsOf (lines: AsyncIterable<string>): AsyncGenerator<ReflectEvent, void> {
  for await (const { event, data: text } of eventsOf(lines)) {
    const data = parseObject(text)
    if (data === undefined) {
      throw new MemoryGatewayError('unusable_answer', 'An event of the stream is not a JSON object')
    }
    if (event === 'error') throw errorOfEvent(data)
    // A newer gateway may send events of other names. The content of known events is not validated.
    if (isReflectEvent(event)) yield { event, data } as unknown as ReflectEvent
    if (event === 'done') return
  }
  throw new MemoryGatewayError('connection_lost', 'The stream ended before its event `done`')
}

function isReflectEvent (event: string): event is ReflectEvent['event'] {
  return ['evidence', 'delta', 'usage', 'done'].includes(event)
}

/**
 * The lines of an export.
 * @throws MemoryGatewayError when there are fewer than the header announces: a proxy may end an answer that it has
 * received only in part as if it were whole
 */
export async function * completeExport (lines: AsyncIterable<string>): AsyncGenerator<string, void> {
  let expected: unknown
  let count = -1
  for await (const line of lines) {
    if (++count === 0) expected = Reflect.get(parseObject(line) ?? {}, 'memory_count')
    yield line
  }
  if (typeof expected === 'number' && count < expected) {
    throw new MemoryGatewayError('connection_lost', `The export ended after ${count} of ${expected} memories`)
  }
}
