import { Type } from 'typebox'
import { checker, UnusableInput } from '../../checker.js'
import type { Conversation, Session } from '../conversation-types.js'
import { parseQuestionDate } from './fields.js'
import { answerable, contentsOf, timeOr } from './format.js'

const DEPTH = 100
const SECOND = 1000

const Sample = Type.Object({
  question_id: Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }),
  question_type: Type.String({ minLength: 1 }),
  question: Type.String({ minLength: 1 }),
  question_date: Type.String(),
  answer: Type.Optional(Type.Union([Type.String(), Type.Number()])),
  answer_session_ids: Type.Array(Type.String()),
  haystack_dates: Type.Array(Type.String()),
  haystack_session_ids: Type.Array(Type.String({ minLength: 1 })),
  haystack_sessions: Type.Array(Type.Array(Type.Object({
    role: Type.String({ minLength: 1 }),
    content: Type.String(),
    has_answer: Type.Optional(Type.Boolean()),
  }))),
})

/**
 * A question of LongMemEval with the conversations with an assistant that it is asked about: a bank of its own.
 * A session that the haystack holds twice counts once; a turn without text is no memory.
 */
export function readLongMemEval (sample: unknown, place: string): Conversation {
  const found = checker(Sample, place)(sample)
  const {
    question_id: id, question: text, haystack_sessions: haystack, haystack_session_ids: ids, haystack_dates: dates,
  } = found
  if (ids.length !== haystack.length || dates.length !== haystack.length) {
    throw new UnusableInput(`${place}: haystack_sessions, haystack_session_ids and haystack_dates are not ` +
      'of one length')
  }
  const sessions: Session[] = []
  const evidence: string[] = []
  haystack.forEach((messages, at) => {
    const session = ids[at]!
    if (sessions.some((known) => known.id === session)) return
    const startsAt = dateOf(dates[at]!, `${place}/haystack_dates/${at}`)
    const turns = messages.map(
      ({ role, content }, index) => ({
        id: `${session}:${index}`, contents: contentsOf(content), role, occurredAt: startsAt + index * SECOND,
      }),
    )
    sessions.push({ id: session, turns: turns.filter(({ contents }) => contents.length > 0) })
    evidence.push(...messages.flatMap((message, index) => message.has_answer === true ? `${session}:${index}` : []))
  })
  const questions = answerable(
    [
      {
        text,
        answer: found.answer === undefined ? undefined : String(found.answer),
        category: found.question_type,
        evidence,
        sessions: found.answer_session_ids,
        askedAt: dateOf(found.question_date, `${place}/question_date`),
      },
    ],
    sessions,
  )
  return { id, format: 'longmemeval', hasDocuments: true, depth: DEPTH, sessions, questions }
}

function dateOf (text: string, place: string): number {
  return timeOr(parseQuestionDate(text), place, text, '2023/05/30 (Tue) 10:18')
}
