import { Type } from 'typebox'
import { checker, UnusableInput } from '../../checker.js'
import type { Conversation, Session, Turn } from '../conversation-types.js'
import { instantOf, MONTHS } from './fields.js'
import { answerable, contentsOf, timeOr } from './format.js'

const DEPTH = 25
const SECOND = 1000
/** Categories whose answers are absent, or are the whole conversation. */
const EXCLUDED_CATEGORIES: ReadonlySet<string> = new Set(['abstention', 'summarization', 'event_ordering'])
const ANCHOR = /^([A-Za-z]+)-(\d{1,2})-(\d{4})$/
/** The number that the generator of the data put at the end of a message: `->-> 1,12`. */
const MARKER = /\s*->->\s*[\d, ]*$/

const Message = Type.Object({
  role: Type.String({ minLength: 1 }),
  id: Type.Integer(),
  content: Type.String(),
  time_anchor: Type.Optional(Type.Union([Type.String(), Type.Null()])),
})
const Sample = Type.Object({
  id: Type.String({ pattern: '^[A-Za-z0-9._/-]{1,64}$' }),
  chat: Type.Array(
    Type.Object({ batch_number: Type.Integer(), turns: Type.Array(Type.Array(Message)) }), { minItems: 1 },
  ),
  probing_questions: Type.Record(Type.String(), Type.Array(Type.Object({
    question: Type.String({ minLength: 1 }),
    source_chat_ids: Type.Optional(Type.Unknown()),
    question_date: Type.Optional(Type.String()),
    answer: Type.Optional(Type.Unknown()),
    ideal_answer: Type.Optional(Type.Unknown()),
    ideal_response: Type.Optional(Type.Unknown()),
  }))),
})

/**
 * A chat of BEAM: a bank of its own, with one document per batch. A message is at the last time anchor, and a second
 * behind the message before it, so that order survives.
 */
export function readBeam (sample: unknown, place: string): Conversation {
  const { id, chat, probing_questions: probing } = checker(Sample, place)(sample)
  let at = NaN
  const anchors = chat.flatMap(({ turns }) => turns.flat()).flatMap(({ time_anchor: anchor }) => anchor ?? [])
  if (anchors.length === 0) throw new UnusableInput(`${place}: no message has a time_anchor`)
  let next = anchorTime(anchors[0]!, place)
  const sessions: Session[] = chat.map(({ batch_number: batch, turns: groups }) => ({
    id: `batch-${batch}`,
    turns: groups.flat().flatMap(({ id: message, role, content, time_anchor: anchor }): Turn[] => {
      if (anchor != null) next = anchorTime(anchor, place)
      at = next <= at ? at + SECOND : next
      next = at
      const contents = contentsOf(content.replace(MARKER, ''))
      return contents.length === 0 ? [] : [{ id: String(message), contents, role, occurredAt: at }]
    }),
  }))
  const questions = answerable(Object.entries(probing).flatMap(([ability, asked]) => asked.map(({
    question: text, source_chat_ids: source, question_date: date, ...expected
  }) => ({
    text,
    answer: [expected.answer, expected.ideal_answer, expected.ideal_response].find((one) => typeof one === 'string'),
    category: ability,
    evidence: numbersIn(source).map(String),
    askedAt: date === undefined ? undefined : anchorTime(date, place),
    left: EXCLUDED_CATEGORIES.has(ability),
  }))), sessions)
  return { id, format: 'beam', hasDocuments: true, depth: DEPTH, sessions, questions }
}

/** Numbers, lists and maps of them, as deep as they are. */
function numbersIn (value: unknown): number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

function anchorTime (text: string, place: string): number {
  const [, month, day, year] = ANCHOR.exec(text) ?? []
  return timeOr(
    month === undefined ? undefined : instantOf(Number(year), MONTHS.indexOf(month.toLowerCase()), Number(day)),
    `${place}: a time_anchor or question_date`, text, 'March-15-2024',
  )
}
