import { Type } from 'typebox'
import { RecallAnswer, RetainAnswer } from '../../lib/memory/schemas.js'
import { checker } from '../checked.js'
import type { JsonClient } from '../json-client.js'
import type { Conversation } from './conversation.js'
import { ranksOf } from './metrics.js'
import { evidenceTurns, isAnswerable, turnContent } from './protocol.js'

/** Hits that are asked for: the deepest rank that any figure looks at. */
export const DEPTH = 25

/** How well one question was answered. */
export interface Outcome {
  conversation: string
  category: number
  /** Ranks of the evidence, Infinity for what was not found. */
  ranks: number[]
}

export interface Measurement {
  outcomes: Outcome[]
  turns: number
  /** Turns that the server took for a repeat of an earlier one. */
  repeats: number
  retainMs: number[]
  recallMs: number[]
}

const checkRetain = checker(RetainAnswer, 'the answer to a retain')
const checkRecall = checker(RecallAnswer, 'the answer to a recall')
const checkForget = checker(Type.Object({ deleted_count: Type.Integer() }), 'the answer to a forget')

/**
 * Puts each conversation into a bank of its own, turn by turn, and asks its questions.
 * The banks are emptied at the end, for the server may be somebody's.
 * @param bankPrefix must not be in use on the server
 */
export async function measure (client: JsonClient, conversations: readonly Conversation[], bankPrefix: string): Promise<Measurement> {
  const measurement: Measurement = { outcomes: [], turns: 0, repeats: 0, retainMs: [], recallMs: [] }
  for (const conversation of conversations) {
    const bank = `${bankPrefix}${conversation.id}`
    try {
      const memories = await retainTurns(client, bank, conversation, measurement)
      await askQuestions(client, bank, conversation, memories, measurement)
    } finally {
      checkForget((await client.post('/v1/forget', { bank_id: bank, scope: 'all' })).body)
    }
  }
  return measurement
}

/** @returns the id of the memory of each turn */
async function retainTurns (client: JsonClient, bank: string, { sessions }: Conversation, measurement: Measurement): Promise<Map<string, string>> {
  const memories = new Map<string, string>()
  for (const { id, startsAt, turns } of sessions) {
    for (const [index, turn] of turns.entries()) {
      const { body, durationMs } = await client.post('/v1/retain', {
        bank_id: bank,
        content: turnContent(turn),
        document_id: id,
        occurred_at: new Date(startsAt + index * 1000).toISOString(),
      })
      const answer = checkRetain(body)
      memories.set(turn.dia_id, answer.memory_id)
      measurement.turns += 1
      if (answer.deduplicated) measurement.repeats += 1
      measurement.retainMs.push(durationMs)
    }
  }
  return memories
}

async function askQuestions (client: JsonClient, bank: string, { id, questions }: Conversation, memories: ReadonlyMap<string, string>, measurement: Measurement): Promise<void> {
  for (const { question, evidence, category } of questions.filter(isAnswerable)) {
    const turns = evidenceTurns(evidence, memories)
    if (turns.size === 0) continue
    const { body, durationMs } = await client.post('/v1/recall', { bank_id: bank, query: question, max_results: DEPTH })
    const hits = checkRecall(body).hits.map((hit) => hit.memory_id)
    const wanted = new Set([...turns].map((turn) => memories.get(turn)!))
    measurement.outcomes.push({ conversation: id, category, ranks: ranksOf(wanted, hits) })
    measurement.recallMs.push(durationMs)
  }
}
