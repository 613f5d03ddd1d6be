import { readFile } from 'node:fs/promises'
import { Type } from 'typebox'
import { checker, UnusableInput } from '../checker.js'
import type { Conversation } from './conversation-types.js'
import { groupBy } from './figures.js'
import { readBeam } from './formats/beam.js'
import { readLongMemEval } from './formats/longmemeval.js'
import { readFacts, readTalk } from './formats/talk.js'

export type { Conversation, Question, Session, Turn } from './conversation-types.js'

/**
 * Reads a file in one of the formats of docs/recall-quality.md, which is detected from the content.
 * @throws UnusableInput that names its faults
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

const checkSamples = (name: string) => checker(Type.Array(Type.Object({}), { minItems: 1 }), name)

/** @param name of the data, for messages */
export function readConversations (text: string, name: string): Conversation[] {
  return checkSamples(name)(parseJson(text, name)).map((sample, index) => {
    const place = `${name}, /${index}`
    if ('haystack_sessions' in sample) return readLongMemEval(sample, place)
    if ('probing_questions' in sample) return readBeam(sample, place)
    if ('isolated' in sample && sample.isolated === true) return readFacts(sample, place)
    return readTalk(sample, place, name)
  })
}

/**
 * The first `size` conversations, spread over the categories of their first questions: each category in turn
 * contributes its next one. The same data give the same part.
 */
export function partOf (conversations: readonly Conversation[], size: number): Conversation[] {
  const groups = [...groupBy(conversations, ({ questions }) => questions[0]?.category).values()]
  const dealt = Array.from({ length: Math.max(0, ...groups.map(({ length }) => length)) }, (_, round) => groups.flatMap(
    (group) => group[round] ?? [],
  )).flat()
  return dealt.slice(0, size)
}

/** @throws UnusableInput that names the data */
export function parseJson (text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UnusableInput(`${name} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
