import type { RetainAnswer, RetainItem } from '../../lib/operations/schemas.js'
import type { Conversation, Turn } from './conversation-types.js'
import { untilEmbedded } from './until-embedded.js'
import type { MeasuredService } from './measured-service.js'
import { ranksOf } from './metrics.js'
import { sessionsByFirst, sessionsByScore } from './sessions.js'

/** How well one question was answered. Ranks count from 1; Infinity means not found. */
export interface Outcome {
  conversation: string
  /** Place of the question in the data's list, from 0. */
  question: number
  category: string
  /** Of the evidence. */
  ranks: number[]
  /** Who said each piece of the evidence; empty when the data tell no roles. */
  roles: string[]
  /** Of the wanted sessions, among sessions ranked by their best hit; empty for isolated facts. */
  sessionRanks: number[]
  /** The same among sessions ranked by score (sessionsByScore). */
  sessionScoreRanks: number[]
}

export interface Measurement {
  outcomes: Outcome[]
  turns: number
  /** Memories that the service treated as a repeat of an earlier one. */
  repeats: number
  retainMs: number[]
  recallMs: number[]
  /** How long embeddings were waited for after the last retain, all conversations together. */
  embeddingWaitMs: number
}

/** A memory to retain: a turn, or a part of a long one. */
interface Item {
  turn: Turn
  session: string
  item: RetainItem
}

const BATCH_ITEMS = 200
const BATCH_CHARACTERS = 500_000

/**
 * Puts each conversation into a bank of its own, in order, waits until it has its vectors, and asks its questions. The
 * banks are emptied at the end, because the service may be in use.
 * @param bankPrefix must not be in use in the service
 * @param settingChanges each is applied before the questions are asked again; by default they are asked once, with the
 *   present settings
 * @returns a measurement for each arrangement; figures of writes are the same in all
 */
export async function measure (
  service: MeasuredService, conversations: readonly Conversation[], bankPrefix: string,
  settingChanges: ReadonlyArray<() => void> = [() => {}],
): Promise<Measurement[]> {
  const measurements = settingChanges.map((): Measurement => ({
    outcomes: [], turns: 0, repeats: 0, retainMs: [], recallMs: [], embeddingWaitMs: 0,
  }))
  for (const conversation of conversations) {
    const bank = `${bankPrefix}${conversation.id.replaceAll('/', '-')}`
    try {
      const { memories, ...written } = await retainTurns(service, bank, conversation)
      const waited = await untilEmbedded(async () => await service.statistics(bank))
      for (const [index, applySetting] of settingChanges.entries()) {
        applySetting()
        const measurement = measurements[index]!
        measurement.turns += memories.size
        measurement.repeats += written.repeats
        measurement.retainMs.push(...written.retainMs)
        measurement.embeddingWaitMs += waited
        await askQuestions(service, bank, conversation, memories, measurement)
      }
    } finally {
      await service.forgetAll(bank)
    }
  }
  return measurements
}

interface Written {
  /** Ids of each turn's memories. */
  memories: Map<string, string[]>
  repeats: number
  retainMs: number[]
}

export async function retainTurns (
  service: MeasuredService, bank: string, conversation: Conversation,
): Promise<Written> {
  const written: Written = { memories: new Map(), repeats: 0, retainMs: [] }
  const note = ({ turn }: Item, { memory_id: memoryId, deduplicated }: RetainAnswer) => {
    written.memories.set(turn.id, [...written.memories.get(turn.id) ?? [], memoryId])
    if (deduplicated) written.repeats += 1
  }
  const items = itemsOf(conversation)
  // If each question has a bank of its own there are many thousand turns, so they are sent in batches, which keep their
  // order too.
  if (conversation.format === 'longmemeval') {
    for (const batch of batchesOf(items)) {
      const { answer: { results }, durationMs } =
        await service.retainBatch({ bank_id: bank, items: batch.map(({ item }) => item) })
      results.forEach((result, index) => { note(batch[index]!, result) })
      written.retainMs.push(durationMs)
    }
    return written
  }
  for (const item of items) {
    const { answer, durationMs } = await service.retain({ bank_id: bank, ...item.item })
    note(item, answer)
    written.retainMs.push(durationMs)
  }
  return written
}

function itemsOf ({ hasDocuments, sessions }: Conversation): Item[] {
  return sessions.flatMap(({ id: session, turns }) => turns.flatMap((turn) => turn.contents.map((content) => ({
    turn,
    session,
    item: {
      content,
      ...(hasDocuments && { document_id: session }),
      ...(turn.occurredAt !== undefined && { occurred_at: new Date(turn.occurredAt).toISOString() }),
      ...(turn.role !== undefined && { metadata: { speaker: turn.role } }),
    },
  }))))
}

function batchesOf (items: readonly Item[]): Item[][] {
  const batches: Item[][] = []
  let room = 0
  for (const item of items) {
    const size = item.item.content.length
    const batch = batches.at(-1)
    if (batch === undefined || batch.length === BATCH_ITEMS || size > room) {
      batches.push([item])
      room = BATCH_CHARACTERS - size
    } else {
      batch.push(item)
      room -= size
    }
  }
  return batches
}

async function askQuestions (
  service: MeasuredService, bank: string, { id, sessions, depth, questions }: Conversation,
  memories: ReadonlyMap<string, readonly string[]>, measurement: Measurement,
): Promise<void> {
  const turns = new Map(sessions.flatMap(({ turns }) => turns).map((turn) => [turn.id, turn]))
  for (const { index, text, category, evidence, sessions: wanted, askedAt } of questions) {
    const { answer: { hits }, durationMs } = await service.recall({
      bank_id: bank,
      query: text,
      max_results: depth,
      ...(askedAt !== undefined && { reference_time: new Date(askedAt).toISOString() }),
    })
    const found = hits.map((hit) => hit.memory_id)
    const sessionHits = hits.map(({ document_id: session, score }) => ({ session, score }))
    const roles = evidence.map((turn) => turns.get(turn)?.role)
    measurement.outcomes.push({
      conversation: id,
      question: index,
      category,
      // For a turn of several memories the best rank counts.
      ranks: evidence.map((turn) => Math.min(...ranksOf(new Set(memories.get(turn)), found))),
      roles: roles.flatMap((role) => role ?? []),
      sessionRanks: ranksOf(new Set(wanted), sessionsByFirst(sessionHits)),
      sessionScoreRanks: ranksOf(new Set(wanted), sessionsByScore(sessionHits)),
    })
    measurement.recallMs.push(durationMs)
  }
}
