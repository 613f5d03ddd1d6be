import { TIMED_OUT, withTimeout } from '../../concurrency/deadline.js'
import { member } from './member.js'
import { parsedJson } from '../../validation/json-object.js'

/** Milliseconds that an endpoint has to end its answer after the last event, which keeps the connection reusable. */
const END_TIMEOUT_MS = 250

/**
 * Repairs the token counts of an answer, because the SDK refuses an answer whose count is missing or not a number.
 * Invalid counts are removed, and where the SDK requires one it becomes 0, which means unknown, since no answer with a
 * text costs 0 tokens.
 * @param text JSON of an answer or an event; anything else is returned unchanged
 */
export function repairUsage (text: string): string {
  const parsed = parsedJson(text)
  if (typeof parsed !== 'object' || parsed === null) return text
  const type = member(parsed, 'type')
  if (type === 'message_start') {
    const message = member(parsed, 'message')
    const usage = { input_tokens: 0, ...numbersOf(member(message, 'usage')) }
    return JSON.stringify({ ...parsed, message: { ...Object(message), usage } })
  }
  const usage = numbersOf(member(parsed, 'usage'))
  if (type === 'message') return JSON.stringify({ ...parsed, usage: { input_tokens: 0, output_tokens: 0, ...usage } })
  if (type === 'message_delta') return JSON.stringify({ ...parsed, usage: { output_tokens: 0, ...usage } })
  return 'usage' in parsed ? JSON.stringify({ ...parsed, usage }) : text
}

function numbersOf (usage: unknown): Record<string, number> {
  const entries = typeof usage === 'object' && usage !== null ? Object.entries(usage) : []
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => Number.isFinite(entry[1])))
}

/** Events that have token counts, or must have them. */
const COUNTING = /"usage"|"message_start"|"message_delta"/
const LAST = /^data: ?(\[DONE\]|.*"message_stop")/

/**
 * Server-sent events, each with repairUsage(), up to the last event of the protocol, even when the endpoint keeps the
 * connection open.
 * @throws what the body fails with
 */
export async function * repairedEvents (body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  /** The pieces of an incomplete line. */
  let begun: string[] = []
  let isOver = false
  const lineOf = (rest: string) => {
    const line = [...begun, rest].join('')
    begun = []
    if (LAST.test(line)) isOver = true
    return line.startsWith('data:') && COUNTING.test(line)
      ? `data: ${repairUsage(line.slice('data:'.length))}\n`
      : `${line}\n`
  }
  try {
    for (;;) {
      const chunk = await withTimeout(reader.read(), isOver ? END_TIMEOUT_MS : Infinity)
      if (chunk === TIMED_OUT || chunk.done) break
      const pieces = decoder.decode(chunk.value, { stream: true }).split('\n')
      const last = pieces.pop()!
      const lines = pieces.map(lineOf)
      begun.push(last)
      if (lines.length > 0) yield encoder.encode(lines.join(''))
    }
    // An event is complete only with an empty line after it.
    if (isOver) yield encoder.encode('\n')
  } finally {
    // Cancelling a body that has failed rejects again.
    await reader.cancel().catch(() => {})
  }
}
