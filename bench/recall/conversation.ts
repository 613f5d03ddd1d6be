import { readFile } from 'node:fs/promises'
import { Type, type Static } from 'typebox'
import { checker, UnusableInput } from '../checked.js'
import { parseSessionTime } from './protocol.js'

const Turn = Type.Object({
  speaker: Type.String({ minLength: 1 }),
  dia_id: Type.String({ minLength: 1 }),
  text: Type.String({ minLength: 1 }),
  blip_caption: Type.Optional(Type.String()),
})
export type Turn = Static<typeof Turn>

const Question = Type.Object({
  question: Type.String({ minLength: 1 }),
  evidence: Type.Array(Type.String()),
  category: Type.Integer({ minimum: 1, maximum: 5 }),
})
export type Question = Static<typeof Question>

/** Sessions are members by name: `session_3` with its turns beside `session_3_date_time`. */
const Conversation = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  required: ['speaker_a', 'speaker_b', 'session_1', 'session_1_date_time'],
  properties: { speaker_a: { type: 'string' }, speaker_b: { type: 'string' } },
  patternProperties: {
    '^session_\\d+$': Type.Array(Turn),
    '^session_\\d+_date_time$': { type: 'string' },
  },
})

const Sample = Type.Object({
  sample_id: Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }),
  conversation: Conversation,
  qa: Type.Array(Question),
})
const DataSet = Type.Array(Sample, { minItems: 1 })

export interface Session {
  /** As the data names it: `session_3`. */
  id: string
  /** Milliseconds since the epoch. */
  startsAt: number
  turns: Turn[]
}

export interface Conversation {
  id: string
  sessions: Session[]
  questions: Question[]
}

/**
 * Reads a file in the shape of the LoCoMo data set (docs/benchmarks.md).
 * @throws UnusableInput that says what is wrong with it
 */
export async function loadConversations (path: string): Promise<Conversation[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new UnusableInput(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  })
  return readConversations(text, path)
}

/** @param name of the data, for messages */
export function readConversations (text: string, name: string): Conversation[] {
  const samples = checker(DataSet, name)(parseJson(text, name))
  return samples.map(({ sample_id: id, conversation, qa }) => ({
    id,
    sessions: sessionsOf(conversation, `${name}, ${id}`),
    questions: qa,
  }))
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

function parseJson (text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UnusableInput(`${name} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
