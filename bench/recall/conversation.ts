import { readFile } from 'node:fs/promises'
import { Type, type Static } from 'typebox'
import { checker, UnusableInput } from '../checked.js'
import { parseQuestionDate, parseSessionTime } from './protocol.js'

const Turn = Type.Object({
  speaker: Type.String({ minLength: 1 }),
  dia_id: Type.String({ minLength: 1 }),
  text: Type.String({ minLength: 1 }),
  blip_caption: Type.Optional(Type.String()),
})
const Fact = Type.Object({ dia_id: Type.String({ minLength: 1 }), text: Type.String({ minLength: 1 }) })
/** A fact is a turn that nobody in particular said. */
export type Turn = Static<typeof Fact> & Partial<Static<typeof Turn>>

const Question = Type.Object({
  question: Type.String({ minLength: 1 }),
  evidence: Type.Array(Type.String()),
  category: Type.Integer({ minimum: 1, maximum: 5 }),
  question_date: Type.Optional(Type.String()),
})
export interface Question extends Omit<Static<typeof Question>, 'question_date'> {
  /** When it is asked, in milliseconds since the epoch; undefined where the data does not say. */
  askedAt?: number
}

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

export interface Session {
  /** As the data names it: `session_3`; of an isolated fact, the fact's own id. */
  id: string
  /** Milliseconds since the epoch; NaN for isolated facts, which have no time. */
  startsAt: number
  turns: Turn[]
}

export interface Conversation {
  id: string
  /** True: each turn is a fact by itself, without document, time and speaker. */
  isolated: boolean
  sessions: Session[]
  questions: Question[]
}

/**
 * Reads a file in the shape of the LoCoMo data set, or of isolated facts (docs/recall-quality.md).
 * @throws UnusableInput that says what is wrong with it
 */
export async function loadConversations (path: string): Promise<Conversation[]> {
  return readConversations(await readTextFile(path), path)
}

/** @throws UnusableInput when the file cannot be read */
export async function readTextFile (path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: unknown) => {
    throw new UnusableInput(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  })
}

const checkSamples = (name: string) => checker(Type.Array(Type.Object({ isolated: Type.Optional(Type.Boolean()) }), { minItems: 1 }), name)

/** @param name of the data, for messages */
export function readConversations (text: string, name: string): Conversation[] {
  return checkSamples(name)(parseJson(text, name)).map((sample, index) => {
    const place = `${name}, /${index}`
    if (sample.isolated === true) {
      const { sample_id: id, facts, qa } = checker(Facts, place)(sample)
      return { id, isolated: true, sessions: facts.map((fact) => ({ id: fact.dia_id, startsAt: NaN, turns: [fact] })), questions: questionsOf(qa, `${name}, ${id}`) }
    }
    const { sample_id: id, conversation, qa } = checker(Talk, place)(sample)
    return { id, isolated: false, sessions: sessionsOf(conversation, `${name}, ${id}`), questions: questionsOf(qa, `${name}, ${id}`) }
  })
}

function questionsOf (qa: ReadonlyArray<Static<typeof Question>>, place: string): Question[] {
  return qa.map(({ question_date: date, ...question }, index) => {
    if (date === undefined) return question
    const askedAt = parseQuestionDate(date)
    if (askedAt === undefined) {
      const forms = 'like "1:56 pm on 8 May, 2023" or "2023/05/08 (Mon) 13:56"'
      throw new UnusableInput(`${place}: question_date of /qa/${index} is ${JSON.stringify(date)}, not ${forms}`)
    }
    return { ...question, askedAt }
  })
}

const checkTurns = checker(Type.Array(Turn), 'a session')
const checkTime = checker(Type.String(), 'the time of a session')

/** In the order of their numbers; the data may have them in any. */
function sessionsOf (conversation: Record<string, unknown>, place: string): Session[] {
  return Object.keys(conversation)
    .filter((key) => /^session_\d+$/.test(key))
    .sort((a, b) => numberOf(a) - numberOf(b))
    .map((id) => {
      const time = conversation[`${id}_date_time`]
      if (time === undefined) throw new UnusableInput(`${place}: ${id} has no ${id}_date_time`)
      const startsAt = parseSessionTime(checkTime(time))
      if (startsAt === undefined) throw new UnusableInput(`${place}: ${id}_date_time is ${JSON.stringify(time)}, not like "1:56 pm on 8 May, 2023"`)
      return { id, startsAt, turns: checkTurns(conversation[id]) }
    })
}

function numberOf (session: string): number {
  return Number(session.slice('session_'.length))
}

/** @throws UnusableInput that names the data */
export function parseJson (text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UnusableInput(`${name} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
