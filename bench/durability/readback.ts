import { Type } from 'typebox'
import { MemoriesAnswer, RecallAnswer, StatisticsAnswer } from '../../lib/operations/schemas.js'
import { checker } from '../checker.js'
import type { Random } from '../http/vocabulary.js'
import type { Exchange, HttpClient } from './http-client.js'
import type { Found } from './history.js'
import { BANK, SLOT, uniqueWord, send, type Write } from './writes.js'

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
  Type.Object({
    memory_id: Type.String(),
    text: Type.String(),
    tags: Type.Array(Type.String()),
    key: Type.Optional(Type.String()),
    version: Type.Optional(Type.Integer()),
    state: Type.Optional(Type.String()),
    supersedes: Type.Optional(Type.Array(Type.String())),
    superseded_by: Type.Optional(Type.String()),
    ended_at: Type.Optional(Type.String()),
  }),
  'a line of an export',
)
type Line = ReturnType<typeof readLine>

/** Reads everything in three ways, and searches for a sample through the indexes. */
export async function readBack (client: HttpClient, random: Random): Promise<ReadBack> {
  const lines = await exportOf(client)
  const found = textsOf(lines)
  const current = found.filter(({ isCurrent }) => isCurrent)
  const listed = await listOf(client)
  const statistics = await statisticsOf(client)
  const disagreements = chainFaults(lines)
  const exported = found.filter(({ isEarlier }) => !isEarlier).map(({ memoryId }) => memoryId)
  if ([...listed].sort().join() !== exported.sort().join()) {
    disagreements.push(
      `the list has ${listed.length} memories, the export ${exported.length}, and they are not the same`,
    )
  }
  const counted = { memory_count: current.length, chunk_count: current.length, tags: countTags(current) }
  const said = {
    memory_count: statistics.memory_count,
    chunk_count: statistics.chunk_count,
    tags: Object.fromEntries(statistics.tags.map(({ tag, memory_count: count }) => [tag, count]).sort()),
  }
  if (JSON.stringify(said) !== JSON.stringify(counted)) {
    disagreements.push(`statistics say ${JSON.stringify(said)}, the export has ${JSON.stringify(counted)}`)
  }
  const sample = [...current.slice(-RECALLS / 2), ...pick(current.slice(0, -RECALLS / 2), RECALLS / 2, random)]
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
    const { outcome } = await send(client, round, write)
    if (outcome.state === 'acknowledged' && write.outcome.state === 'acknowledged' && outcome.replayed &&
      outcome.text === write.outcome.text) continue
    keysWrong++
    examples.push(`the key ${write.key} was answered ${JSON.stringify(write.outcome)}, then ${JSON.stringify(outcome)}`)
  }
  const there = new Set(found.map(({ text }) => text))
  const repeats: Write[] = []
  for (const write of groups.filter(({ outcome }) => outcome.state !== 'acknowledged')) {
    const again = await send(client, round, write)
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

/** Every version of every memory. */
async function exportOf (client: HttpClient): Promise<Line[]> {
  const { text } = ok(await client.get(`/v1/banks/${BANK}/export?versions=true`))
  return text.trimEnd().split('\n').slice(1).map((line) => readLine(JSON.parse(line)))
}

/** Each text of each memory once, also where several versions have it. */
function textsOf (lines: readonly Line[]): Found[] {
  const last = new Map(lines.filter(isLast).map((line) => [line.memory_id, line]))
  const seen = new Set<string>()
  // The last versions first, so that a text that a memory still has is no earlier one.
  return [...last.values(), ...lines.filter((line) => !isLast(line))].flatMap((line): Found[] => {
    const { memory_id: memoryId, text, tags } = line
    const id = `${memoryId} ${text}`
    if (seen.has(id)) return []
    seen.add(id)
    return [{ memoryId, text, tags, isEarlier: !isLast(line), isCurrent: isLast(line) && stateOf(line) === 'current' }]
  })
}

function isLast ({ ended_at: ended }: Line): boolean {
  return ended === undefined
}

function stateOf ({ state = 'current' }: Line): string {
  return state
}

/** A key has one current memory, what is superseded names what took its place, and no version is missing. */
function chainFaults (lines: readonly Line[]): string[] {
  const faults: string[] = []
  const last = new Map(lines.filter(isLast).map((line) => [line.memory_id, line]))
  const keyed = [...last.values()].filter(({ key }) => key === SLOT)
  const standing = keyed.filter((line) => stateOf(line) === 'current').length
  if (standing !== Math.min(1, keyed.length)) {
    faults.push(`${standing} of ${keyed.length} memories of a key are current`)
  }
  const versions = new Map<string, number[]>()
  for (const { memory_id: id, version = 1 } of lines) versions.set(id, [...versions.get(id) ?? [], version])
  for (const [id, numbers] of versions) {
    const line = last.get(id)
    const isWhole = new Set(numbers).size === numbers.length && numbers.length === (line?.version ?? 1)
    if (line === undefined || !isWhole) faults.push(`${id} has not all its versions`)
    if (line?.state !== 'superseded') continue
    const follower = last.get(line.superseded_by ?? '')
    if (follower?.supersedes?.includes(id) !== true) faults.push(`what took the place of ${id} does not tell it`)
  }
  return faults.slice(0, 3)
}

/** The ids of the memories of every state. */
async function listOf (client: HttpClient): Promise<string[]> {
  const memories: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page: ReturnType<typeof readMemories> = await json(
      client.get(`/v1/banks/${BANK}/memories?state=all&limit=200${after}`), readMemories,
    )
    memories.push(...page.memories.map(({ memory_id: id }) => id))
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
