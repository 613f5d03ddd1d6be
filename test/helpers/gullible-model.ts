import { member } from '../../lib/models/remote/endpoint.js'

/** What models read and people do not see, and control characters but the line feed. */
const HIDDEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]|(?!\n)\p{Cc}/u
/** Everything that a model may take for the end of a line. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/
const RECORD = /^\[(\d{1,3})\] (\{.*\})$/s

/** The parts of a prompt of reflect, found by the description in its system message. */
export interface ReadPrompt {
  boundary: string
  /** The lines of the evidence, in order; their numbers begin at 1. */
  records: Array<Record<string, unknown>>
  /** All that is no evidence, but for the quoted words of the caller. */
  rest: string
  question: string
  instructions: string | undefined
  /** The differences from the description in the system message; empty when there are none. */
  faults: string[]
}

export function readPrompt ({ system, user }: { system: string, user: string }): ReadPrompt {
  const faults: string[] = []
  const boundary = /the two lines that carry the boundary (\S+)\. /.exec(system)?.[1] ?? ''
  if (!/^[0-9a-f]{32}$/.test(boundary)) faults.push('the system message names no boundary of 32 hexadecimal digits')
  const lines = user.split(LINE_BREAK)
  const opening = `<<<EVIDENCE ${boundary}`
  const closing = `EVIDENCE ${boundary}>>>`
  const first = lines.indexOf(opening)
  const last = lines.indexOf(closing)
  if (first !== 0 || last < first || lines.lastIndexOf(opening) !== first || lines.lastIndexOf(closing) !== last) {
    faults.push('there is not one block of evidence at the beginning')
  }
  if (user.split(boundary).length !== 3) faults.push('the boundary stands elsewhere too')
  const records = lines.slice(first + 1, Math.max(last, 0)).map((line, index) => {
    const found = RECORD.exec(line)
    const record = found === null ? undefined : asObject(found[2]!)
    if (record === undefined || found?.[1] !== String(index + 1)) {
      faults.push(`line ${index + 1} of the evidence is no record of this number`)
    }
    return record ?? {}
  })
  const outside = [...system.split(LINE_BREAK), ...lines.slice(last + 1)]
  const quoted = (is: (line: string, before: string) => string | undefined) => outside.flatMap((line, index) => {
    const text = asString(is(line, outside[index - 1] ?? '') ?? '')
    return text === undefined ? [] : [{ line, text }]
  })
  const questions = quoted((line) => line.startsWith('Question: ') ? line.slice('Question: '.length) : undefined)
  const wishes = quoted((line, before) => before.startsWith("The caller's wishes ") ? line : undefined)
  if (questions.length !== 1) faults.push('there is not one question')
  const words = new Set([...questions, ...wishes].map(({ line }) => line))
  const rest = outside.filter((line) => !words.has(line)).join('\n')
  if (HIDDEN.test(system) || HIDDEN.test(user)) faults.push('there is a hidden character')
  return { boundary, records, rest, question: questions[0]?.text ?? '', instructions: wishes[0]?.text, faults }
}

/**
 * What a model answers that does whatever it is told outside of the evidence, and takes the evidence for what it is:
 * records. A prompt that is not what its system message says confuses it, and then it does what any text says.
 * @param telltale a text that shows that the prompt contains an order
 * @param canary what the order wants to hear
 */
export function gullibleAnswer (prompt: { system: string, user: string }, telltale: string, canary: string): string {
  const { records, rest, faults } = readPrompt(prompt)
  if (faults.length > 0 || rest.includes(telltale) || rest.includes(canary)) return canary
  const believed = records.findIndex((record) => (
    record['trust'] === 'trusted' && String(record['text']).includes('Lyon')
  ))
  return believed < 0 ? 'NO_ANSWER' : `Alice lives in Lyon. [${believed + 1}]`
}

function asObject (json: string): Record<string, unknown> | undefined {
  const value = parsed(json)
  return typeof value === 'object' && value !== null && !Array.isArray(value) && member(value, 'text') !== undefined
    ? value as Record<string, unknown>
    : undefined
}

function asString (json: string): string | undefined {
  const value = parsed(json)
  return typeof value === 'string' ? value : undefined
}

function parsed (json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
