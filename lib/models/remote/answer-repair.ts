import { TIMED_OUT, withTimeout } from '../../concurrency/timeout.js'
import { member } from './member.js'

/** Milliseconds that an endpoint has to end an answer after its last event; one that ends it in good order keeps the connection usable. */
const LAST_WORD_MS = 250

/**
 * The SDK refuses an answer for a count of tokens that is missing or no number, though the text is there. What is no number is taken
 * out, and where the SDK demands one there is 0, which no answer with a text can have cost.
 * @param text JSON of an answer or an event; anything else is given back as it is
 */
export function mendUsage (text: string): string {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return text
  }
  if (typeof parsed !== 'object' || parsed === null) return text
  const type = member(parsed, 'type')
  if (type === 'message_start') return JSON.stringify({ ...parsed, message: { ...Object(member(parsed, 'message')), usage: { input_tokens: 0, ...numbersOf(member(member(parsed, 'message'), 'usage')) } } })
  const usage = numbersOf(member(parsed, 'usage'))
  if (type === 'message') return JSON.stringify({ ...parsed, usage: { input_tokens: 0, output_tokens: 0, ...usage } })
  if (type === 'message_delta') return JSON.stringify({ ...parsed, usage: { output_tokens: 0, ...usage } })
  return 'usage' in parsed ? JSON.stringify({ ...parsed, usage }) : text
}

function numbersOf (usage: unknown): Record<string, number> {
  const entries = typeof usage === 'object' && usage !== null ? Object.entries(usage) : []
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => Number.isFinite(entry[1])))
}

/** Events that name tokens, or have to. */
const COUNTING = /"usage"|"message_start"|"message_delta"/
const LAST = /^data: ?(\[DONE\]|.*"message_stop")/

/**
 * Server-sent events as they come, each with mendUsage(). It ends with the last event of the protocol, even when the endpoint leaves
 * the connection open.
 * @throws what the body fails with
 */
export async function * mendedEvents (body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  /** Of a line whose end has not come. */
  let begun: string[] = []
  let isOver = false
  const lineOf = (rest: string) => {
    const line = [...begun, rest].join('')
    begun = []
    if (LAST.test(line)) isOver = true
    return line.startsWith('data:') && COUNTING.test(line) ? `data: ${mendUsage(line.slice('data:'.length))}\n` : `${line}\n`
  }
  try {
    for (;;) {
      const chunk = await withTimeout(reader.read(), isOver ? LAST_WORD_MS : Infinity)
      if (chunk === TIMED_OUT || chunk.done) break
      const pieces = decoder.decode(chunk.value, { stream: true }).split('\n')
      const last = pieces.pop()!
      const lines = pieces.map(lineOf)
      begun.push(last)
      if (lines.length > 0) yield encoder.encode(lines.join(''))
    }
    // An event counts when an empty line follows it.
    if (isOver) yield encoder.encode('\n')
  } finally {
    // Nothing is to be had from a body that has failed already.
    await reader.cancel().catch(() => {})
  }
}
