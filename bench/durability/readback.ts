import { Type } from 'typebox'
import { MemoriesAnswer, RecallAnswer, StatisticsAnswer } from '../../lib/operations/schemas.js'
import { checker } from '../checker.js'
import type { Random } from '../http/vocabulary.js'
import type { Exchange, HttpClient } from './http-client.js'
import type { Found } from './history.js'
import { BANK, uniqueWord, send, type Write } from './writes.js'

/** Memories that are recalled in a round; half of them are the newest. */
const RECALLS = 40
/** Keys that are sent again in a round, besides all that were not acknowledged. */
const REPLAYS = 40

export interface ReadBack {
  found: Found[]
  /** Memories that were recalled by their own words, and those that were not found. */
  recalled: number
  notRecalled: number
  /** Differences between the bank's statistics, its list and its export. */
  disagreements: string[]
}

const readMemories = checker(MemoriesAnswer, 'a list of memories')
const readStatistics = checker(StatisticsAnswer, 'the statistics of a bank')
const readHits = checker(RecallAnswer, 'the answer of a recall')
const readLine = checker(
  Type.Object({ memory_id: Type.String(), text: Type.String(), tags: Type.Array(Type.String()) }),
  'a line of an export',
)

/** Reads everything in three ways, and searches for a sample through the indexes. */
export async function readBack (client: HttpClient, random: Random): Promise<ReadBack> {
  const found = await exportOf(client)
  const listed = await listOf(client)
  const statistics = await statisticsOf(client)
  const disagreements: string[] = []
  const ids = (memories: readonly Found[]) => memories.map(({ memoryId }) => memoryId).sort().join()
  if (ids(listed) !== ids(found)) {
    disagreements.push(`the list has ${listed.length} memories, the export ${found.length}, and they are not the same`)
  }
  const counted = { memory_count: found.length, chunk_count: found.length, tags: countTags(found) }
  const said = {
    memory_count: statistics.memory_count,
    chunk_count: statistics.chunk_count,
    tags: Object.fromEntries(statistics.tags.map(({ tag, memory_count: count }) => [tag, count]).sort()),
  }
  if (JSON.stringify(said) !== JSON.stringify(counted)) {
    disagreements.push(`statistics say ${JSON.stringify(said)}, the export has ${JSON.stringify(counted)}`)
  }
  const sample = [...found.slice(-RECALLS / 2), ...pick(found.slice(0, -RECALLS / 2), RECALLS / 2, random)]
  let notRecalled = 0
  for (const memory of sample) if (!await isRecalled(client, memory)) notRecalled++
  return { found, recalled: sample.length, notRecalled, disagreements }
}

export interface Replays {
  /** Keys whose answer had been received before, and those that did not get the same answer again. */
  keys: number
  keysWrong: number
  /** The requests with a key that had not been acknowledged, sent again as a client should. */
  repeats: Write[]
  examples: string[]
}

/** Repeats requests with an idempotency key: some that were acknowledged, and all that were not. */
export async function replay (
  client: HttpClient, round: number, writes: readonly Write[], found: readonly Found[], random: Random,
): Promise<Replays> {
  const examples: string[] = []
  const keyed = new Map<string, Write[]>()
  for (const write of writes) if (write.key !== undefined) keyed.set(write.key, [...keyed.get(write.key) ?? [], write])
  const groups = [...keyed.values()].map((group) => (
    group.find(({ outcome }) => outcome.state === 'acknowledged') ?? group[0]!
  ))
  const acknowledged = groups.filter(({ outcome }) => outcome.state === 'acknowledged')
  const sample =
    [...acknowledged.slice(-REPLAYS / 2), ...pick(acknowledged.slice(0, -REPLAYS / 2), REPLAYS / 2, random)]
  let keysWrong = 0
  for (const write of sample) {
    const { outcome } = await send(client, round, { ...write, key: write.key! })
    if (outcome.state === 'acknowledged' && write.outcome.state === 'acknowledged' && outcome.replayed &&
      outcome.text === write.outcome.text) continue
    keysWrong++
    examples.push(`the key ${write.key} was answered ${JSON.stringify(write.outcome)}, then ${JSON.stringify(outcome)}`)
  }
  const there = new Set(found.map(({ text }) => text))
  const repeats: Write[] = []
  for (const write of groups.filter(({ outcome }) => outcome.state !== 'acknowledged')) {
    const again = await send(client, round, { ...write, key: write.key! })
    repeats.push(again)
    // The record of the key is in the same transaction as the memories: either both exist or neither.
    const wasThere = write.contents.every((content) => there.has(content))
    if (again.outcome.state === 'acknowledged' && again.outcome.replayed === wasThere) continue
    keysWrong++
    examples.push(`the unacknowledged key ${write.key}, whose memories were ${wasThere ? '' : 'not '}there, was ` +
      `answered ${JSON.stringify(again.outcome)}`)
  }
  return { keys: sample.length + repeats.length, keysWrong, repeats, examples }
}

async function exportOf (client: HttpClient): Promise<Found[]> {
  const { text } = ok(await client.get(`/v1/banks/${BANK}/export`))
  return text.trimEnd().split('\n').slice(1).map((line) => {
    const { memory_id: memoryId, text, tags } = readLine(JSON.parse(line))
    return { memoryId, text, tags }
  })
}

async function listOf (client: HttpClient): Promise<Found[]> {
  const memories: Found[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: ReturnType<typeof readMemories> = await json(
      client.get(`/v1/banks/${BANK}/memories?limit=200${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`),
      readMemories,
    )
    memories.push(...page.memories.map(({ memory_id: memoryId, text, tags }) => ({ memoryId, text, tags })))
    cursor = page.next_cursor
  }
  return memories
}

async function statisticsOf (client: HttpClient): Promise<ReturnType<typeof readStatistics>> {
  return await json(client.get(`/v1/banks/${BANK}/stats`), readStatistics)
}

/**
 * Searches by its own word, through the lexical index. Hashed vectors rank arbitrarily, so they are checked in the
 * tables.
 */
async function isRecalled (client: HttpClient, { memoryId, text }: Found): Promise<boolean> {
  const { hits } = await json(
    client.post('/v1/recall', { bank_id: BANK, query: uniqueWord(text), max_results: 10, explain: true }), readHits,
  )
  return hits.some(({ memory_id: id, scores }) => id === memoryId && scores?.lexical !== undefined)
}

function countTags (found: readonly Found[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const { tags } of found) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  return Object.fromEntries([...counts].sort())
}

async function json<T> (answered: Promise<Exchange>, read: (value: unknown) => T): Promise<T> {
  return read(JSON.parse(ok(await answered).text))
}

function ok (exchange: Exchange): Exchange {
  if (exchange.status !== 200) {
    throw new Error(`answered ${exchange.status} when everything was to be read back: ${exchange.text.slice(0, 500)}`)
  }
  return exchange
}

function pick<T> (from: readonly T[], count: number, random: Random): T[] {
  return from.length === 0 ? [] : Array.from({ length: count }, () => from[Math.floor(random() * from.length)]!)
}
