import { Type, type Static } from 'typebox'
import { checker, UnusableInput } from '../../checker.js'
import { TALK_CATEGORIES } from '../categories.js'
import type { Conversation, Session } from '../conversation-types.js'
import { parseEvidenceIds, parseQuestionDate, parseSessionTime, turnContent } from './fields.js'
import { answerable, contentsOf, timeOr } from './format.js'

/** Questions of this category intentionally have no answer. */
const ADVERSARIAL = 5
const DEPTH = 25
const SECOND = 1000
const SESSION_TIME = '1:56 pm on 8 May, 2023'

const Turn = Type.Object({
  speaker: Type.String({ minLength: 1 }),
  dia_id: Type.String({ minLength: 1 }),
  text: Type.String({ minLength: 1 }),
  blip_caption: Type.Optional(Type.String()),
})
const Fact = Type.Object({ dia_id: Type.String({ minLength: 1 }), text: Type.String({ minLength: 1 }) })
const Question = Type.Object({
  question: Type.String({ minLength: 1 }),
  evidence: Type.Array(Type.String()),
  category: Type.Integer({ minimum: 1, maximum: ADVERSARIAL }),
  question_date: Type.Optional(Type.String()),
  answer: Type.Optional(Type.Union([Type.String(), Type.Number()])),
})

/** Sessions are members by name: `session_3` with its turns beside `session_3_date_time`. */
const Sessions = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  required: ['speaker_a', 'speaker_b', 'session_1', 'session_1_date_time'],
  properties: { speaker_a: { type: 'string' }, speaker_b: { type: 'string' } },
  patternProperties: {
    '^session_\\d+$': Type.Array(Turn),
    '^session_\\d+_date_time$': { type: 'string' },
  },
})

const common = {
  sample_id: Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }),
  qa: Type.Array(Question),
}
const Talk = Type.Object({ ...common, conversation: Sessions })
const Facts = Type.Object({ ...common, isolated: Type.Literal(true), facts: Type.Array(Fact, { minItems: 1 }) })

/** A talk between two people, in the format of LoCoMo; the content names the speaker. */
export function readTalk (sample: unknown, place: string, name: string): Conversation {
  const { sample_id: id, conversation, qa } = checker(Talk, place)(sample)
  const sessions = sessionsOf(conversation, `${name}, ${id}`)
  const questions = questionsOf(qa, sessions, `${name}, ${id}`)
  return { id, format: 'talk', hasDocuments: true, depth: DEPTH, sessions, questions }
}

/** Facts, each by itself: without document, time and speaker. */
export function readFacts (sample: unknown, place: string): Conversation {
  const { sample_id: id, facts, qa } = checker(Facts, place)(sample)
  const sessions = facts.map(({ dia_id: fact, text }) => ({
    id: fact, turns: [{ id: fact, contents: contentsOf(text), role: undefined, occurredAt: undefined }],
  }))
  return {
    id,
    format: 'facts',
    hasDocuments: false,
    depth: DEPTH,
    sessions,
    questions: questionsOf(qa, sessions, place).map((question) => ({ ...question, sessions: [] })),
  }
}

function questionsOf (qa: ReadonlyArray<Static<typeof Question>>, sessions: readonly Session[], place: string) {
  return answerable(qa.map(({ question: text, evidence, category, question_date: date, answer }, index) => ({
    text,
    answer: answer === undefined ? undefined : String(answer),
    category: TALK_CATEGORIES[category] ?? '',
    evidence: parseEvidenceIds(evidence),
    askedAt: date === undefined
      ? undefined
      : timeOr(parseQuestionDate(date), `${place}: question_date of /qa/${index}`, date, SESSION_TIME),
    left: category === ADVERSARIAL,
  })), sessions)
}

const checkTurns = checker(Type.Array(Turn), 'a session')
const checkTime = checker(Type.String(), 'the time of a session')

/** The sessions in the order of their numbers; the data may have them in any order. */
function sessionsOf (conversation: Record<string, unknown>, place: string): Session[] {
  return Object.keys(conversation)
    .filter((key) => /^session_\d+$/.test(key))
    .sort((a, b) => numberOf(a) - numberOf(b))
    .map((id) => {
      const time = conversation[`${id}_date_time`]
      if (time === undefined) throw new UnusableInput(`${place}: ${id} has no ${id}_date_time`)
      const text = checkTime(time)
      const startsAt = timeOr(parseSessionTime(text), `${place}: ${id}_date_time`, text, SESSION_TIME)
      const turns = checkTurns(conversation[id]).map((turn, index) => ({
        id: turn.dia_id,
        contents: contentsOf(turnContent(turn)),
        role: undefined,
        apart: { speaker: turn.speaker, contents: contentsOf(turnContent({ ...turn, speaker: undefined })) },
        occurredAt: startsAt + index * SECOND,
      }))
      return { id, turns }
    })
}

function numberOf (session: string): number {
  return Number(session.slice('session_'.length))
}
