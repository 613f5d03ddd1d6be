import { Type } from 'typebox'
import { RecallAnswer, RetainAnswer } from '../../lib/memory/schemas.js'
import { checker } from '../checked.js'
import type { JsonClient } from '../json-client.js'
import type { Conversation } from './conversation.js'
import { untilEmbedded } from './embedded.js'
import { ranksOf } from './metrics.js'
import { evidenceTurns, isAnswerable, turnContent } from './protocol.js'
import { sessionsByFirst, sessionsByScore } from './sessions.js'

/** Hits that are asked for: the deepest rank that any figure looks at. */
export const DEPTH = 25

/** How well one question was answered. Ranks count from 1; Infinity stands for what was not found. */
export interface Outcome {
  conversation: string
  /** Place of the question in its conversation's list, from 0. */
  question: number
  category: number
  /** Of the evidence. */
  ranks: number[]
  /** Of the evidence's sessions, among sessions ranked by their best hit; empty for isolated facts. */
  sessionRanks: number[]
  /** The same among sessions ranked by score (sessionsByScore). */
  sessionScoreRanks: number[]
}

export interface Measurement {
  outcomes: Outcome[]
  turns: number
  /** Turns that the server took for a repeat of an earlier one. */
  repeats: number
  retainMs: number[]
  recallMs: number[]
  /** How long embeddings were waited for after the last retain, all conversations together. */
  embeddingWaitMs: number
}

/** What is known of a turn once it is a memory. */
interface Retained {
  memoryId: string
  /** Undefined for an isolated fact. */
  session: string | undefined
}

const checkRetain = checker(RetainAnswer, 'the answer to a retain')
const checkRecall = checker(RecallAnswer, 'the answer to a recall')
const checkForget = checker(Type.Object({ deleted_count: Type.Integer() }), 'the answer to a forget')

/**
 * Puts each conversation into a bank of its own, turn by turn, waits until its vectors are there, and asks its
 * questions. The banks are emptied at the end, for the server may be somebody's.
 * @param bankPrefix must not be in use on the server
 */
export async function measure (client: JsonClient, conversations: readonly Conversation[], bankPrefix: string): Promise<Measurement> {
  const measurement: Measurement = { outcomes: [], turns: 0, repeats: 0, retainMs: [], recallMs: [], embeddingWaitMs: 0 }
  for (const conversation of conversations) {
    const bank = `${bankPrefix}${conversation.id}`
    try {
      const memories = await retainTurns(client, bank, conversation, measurement)
      measurement.embeddingWaitMs += await untilEmbedded(async () => (await client.get(`/v1/banks/${bank}/stats`)).body)
      await askQuestions(client, bank, conversation, memories, measurement)
    } finally {
      checkForget((await client.post('/v1/forget', { bank_id: bank, scope: 'all' })).body)
    }
  }
  return measurement
}

/** @returns what became of each turn, by turn id */
async function retainTurns (client: JsonClient, bank: string, { sessions, isolated }: Conversation, measurement: Measurement): Promise<Map<string, Retained>> {
  const memories = new Map<string, Retained>()
  for (const { id, startsAt, turns } of sessions) {
    for (const [index, turn] of turns.entries()) {
      const { body, durationMs } = await client.post('/v1/retain', {
        bank_id: bank,
        content: turnContent(turn),
        ...(!isolated && { document_id: id, occurred_at: new Date(startsAt + index * 1000).toISOString() }),
      })
      const answer = checkRetain(body)
      memories.set(turn.dia_id, { memoryId: answer.memory_id, session: isolated ? undefined : id })
      measurement.turns += 1
      if (answer.deduplicated) measurement.repeats += 1
      measurement.retainMs.push(durationMs)
    }
  }
  return memories
}

async function askQuestions (client: JsonClient, bank: string, { id, questions }: Conversation, memories: ReadonlyMap<string, Retained>, measurement: Measurement): Promise<void> {
  for (const [index, { question, evidence, category, askedAt }] of questions.entries()) {
    if (!isAnswerable({ category })) continue
    const wanted = [...evidenceTurns(evidence, memories)].map((turn) => memories.get(turn)!)
    if (wanted.length === 0) continue
    const { body, durationMs } = await client.post('/v1/recall', {
      bank_id: bank,
      query: question,
      max_results: DEPTH,
      ...(askedAt !== undefined && { reference_time: new Date(askedAt).toISOString() }),
    })
    const { hits } = checkRecall(body)
    const sessions = new Set(wanted.flatMap(({ session }) => session ?? []))
    const sessionHits = hits.map(({ document_id: session, score }) => ({ session, score }))
    measurement.outcomes.push({
      conversation: id,
      question: index,
      category,
      ranks: ranksOf(new Set(wanted.map(({ memoryId }) => memoryId)), hits.map((hit) => hit.memory_id)),
      sessionRanks: ranksOf(sessions, sessionsByFirst(sessionHits)),
      sessionScoreRanks: ranksOf(sessions, sessionsByScore(sessionHits)),
    })
    measurement.recallMs.push(durationMs)
  }
}
