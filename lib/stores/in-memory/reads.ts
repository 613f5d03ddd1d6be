import type { TokenCount } from '../../text/tokens.js'
import type { Steps, Turns } from '../../concurrency/steps.js'
import { NO_CALLER } from '../../concurrency/turn-budget.js'
import { compareText } from '../../text/compare-text.js'
import { dayOf } from '../../time/days.js'
import type { BankKey } from '../../identity/context.js'
import { SplitMap } from '../split-map.js'
import { mostFrequent } from '../most-frequent.js'
import { speakerOf } from '../speaker.js'
import type {
  BankStatistics, BankSummary, DayCounts, DayRange, ListRequest, Memory, Neighbourhood, NeighboursRequest,
  StoredMemory, Unembedded,
} from '../vector-store.js'
import type { Bank } from './bank.js'
import { compareKeys, type Directory } from './directory.js'
import { isUnexpired, type Accept, type Entry } from './entry.js'
import type { Mutable } from '../../validation/members.js'

/**
 * Reads in time slices as long as the bank does not change.
 * @returns undefined when the bank changed between two slices, so that the result would be inconsistent
 */
export async function readUnchanged<T> (bank: Bank, work: Steps<T>, turns: Turns): Promise<{ value: T } | undefined> {
  const { version, id } = bank
  try {
    while (bank.version === version) {
      const step = work.next()
      if (step.done === true) return { value: step.value }
      if (turns.isExhausted) await turns.next(id)
    }
    return undefined
  } finally {
    // Runs the `finally` blocks of unfinished work, which release its buffers.
    work.return(undefined as never)
  }
}

/** Number of entries that one step examines. */
const ENTRIES_PER_STEP = 32

export function * listPage (
  bank: Bank, { after, limit, order = 'newest', offset = 0 }: ListRequest, accept: Accept,
): Steps<Memory[]> {
  const page: Memory[] = []
  let looked = 0
  let toSkip = offset
  for (const entry of order === 'newest' ? newestFirst(bank, after) : oldestFirst(bank, after)) {
    if (page.length >= limit) break
    if (entry.isVisible && (accept === undefined || accept(entry.memory)) && toSkip-- <= 0) page.push(entry.memory)
    if (++looked % ENTRIES_PER_STEP === 0) yield
  }
  return page
}

type Place = NonNullable<ListRequest['after']>

function newestFirst ({ entries }: Bank, after: Place | undefined): Iterable<Entry> {
  return entries.backwards(after === undefined ? undefined : (entry) => comparePlaces(entry, after) < 0)
}

function oldestFirst ({ entries }: Bank, after: Place | undefined): Iterable<Entry> {
  return entries.ordered(after === undefined ? undefined : (entry) => comparePlaces(entry, after) <= 0)
}

function comparePlaces ({ memory: { retainedAt, memoryId } }: Entry, place: Place): number {
  return retainedAt - place.retainedAt || compareText(memoryId, place.memoryId)
}

/** The number of memories, up to `limit`. */
export function * countUpTo (bank: Bank, limit: number, accept: Accept): Steps<number> {
  if (accept === undefined) return Math.min(limit, bank.size)
  let count = 0
  let looked = 0
  for (const { isVisible, memory } of bank.entries.ordered()) {
    if (count >= limit) break
    if (isVisible && accept(memory)) count++
    if (++looked % ENTRIES_PER_STEP === 0) yield
  }
  return count
}

export function repeatedMemory (entry: Entry | undefined, now: number): StoredMemory | undefined {
  if (entry === undefined || !isUnexpired(entry.memory, now)) return undefined
  const { memory: { memoryId, trust }, passages } = entry
  return { memoryId, passageCount: passages.length, trust }
}

export function * neighbourhood (
  bank: Bank, memoryId: string, { now, before, after }: NeighboursRequest, accept: Accept,
): Steps<Neighbourhood | undefined> {
  const entry = bank.entries.byId(memoryId)
  if (entry === undefined || !isUnexpired(entry.memory, now)) return undefined
  // Its sequence is the memories of its day, which a search uses as context: they are not a document.
  if (entry.memory.documentId === null) return { memory: entry.memory, before: [], after: [] }
  const earlier = yield * neighboursOn(entry, 'before', before, accept)
  const later = yield * neighboursOn(entry, 'after', after, accept)
  return { memory: entry.memory, before: earlier.reverse(), after: later }
}

/** A memory's neighbours on one side of its document, nearest first. */
function * neighboursOn (
  entry: Entry, side: 'before' | 'after', limit: number, accept: Accept,
): Steps<Memory[]> {
  const found: Memory[] = []
  let looked = 0
  for (let beside = entry[side]; beside !== undefined && found.length < limit; beside = beside[side]) {
    if (beside.isVisible && (accept === undefined || accept(beside.memory))) found.push(beside.memory)
    if (++looked % ENTRIES_PER_STEP === 0) yield
  }
  return found
}

/** All memories, oldest first. */
export function * collectAll (bank: Bank, accept: Accept): Steps<Memory[]> {
  const memories: Memory[] = []
  let looked = 0
  for (const entry of bank.entries.ordered()) {
    if (entry.isVisible && (accept === undefined || accept(entry.memory))) memories.push(entry.memory)
    if (++looked % ENTRIES_PER_STEP === 0) yield
  }
  return memories
}

/**
 * Memories without vectors, by bank and id.
 * @param read reads one consistent state of a bank
 */
export async function collectUnembedded (
  directory: Directory, { limit, after }: { limit: number, after?: BankKey & { memoryId: string } }, turns: Turns,
  read: (key: BankKey, work: (bank: Bank, accept: Accept) => Steps<Unembedded[]>) => Promise<Unembedded[]>,
): Promise<Unembedded[]> {
  const found: Unembedded[] = []
  for (const { key, unembeddedCount } of directory.inOrder(after && (({ key }) => compareKeys(key, after) < 0))) {
    if (found.length >= limit) break
    if (turns.isExhausted) await turns.next(NO_CALLER)
    if (unembeddedCount === 0) continue
    const last = after !== undefined && compareKeys(key, after) === 0 ? after.memoryId : undefined
    const rest = limit - found.length
    found.push(...await read(key, (bank, accept) => unembeddedPage(bank, rest, last, accept)))
  }
  return found
}

function * unembeddedPage (bank: Bank, limit: number, after: string | undefined, accept: Accept): Steps<Unembedded[]> {
  const page: Unembedded[] = []
  let looked = 0
  for (const { memory, fingerprint, passages, isVisible } of bank.entries.unembedded(after)) {
    if (page.length >= limit) break
    if (isVisible && (accept === undefined || accept(memory))) {
      page.push({ bank: bank.key, memory, fingerprint, passages: passages.map(({ start, end }) => ({ start, end })) })
    }
    if (++looked % ENTRIES_PER_STEP === 0) yield
  }
  return page
}

/** Memories by the day on which they were retained. */
export function * countDays (bank: Bank, { from, until }: DayRange, accept: Accept): Steps<DayCounts> {
  const byDay = new Map<number, number>()
  let before = 0
  let looked = 0
  for (const entry of bank.entries.ordered()) {
    const day = dayOf(entry.memory.retainedAt)
    if (day > until) break
    if (entry.isVisible && (accept === undefined || accept(entry.memory))) {
      if (day < from) before++
      else byDay.set(day, (byDay.get(day) ?? 0) + 1)
    }
    if (++looked % ENTRIES_PER_STEP === 0) yield
  }
  return { before, byDay }
}

/** @param accept absent: all memories count, and none is examined */
export function * summarise (bank: Bank, accept: Accept): Steps<BankSummary> {
  if (accept === undefined) return { ...bank.key, memoryCount: bank.size, lastRetainedAt: bank.lastRetainedAt }
  const memories = yield * collectAll(bank, accept)
  return { ...bank.key, memoryCount: memories.length, lastRetainedAt: memories.at(-1)?.retainedAt ?? null }
}

/** The statistics of a bank except its tokens, which the caller counts. */
export function * collectStatistics (
  bank: Bank, accept: Accept,
): Steps<{ statistics: BankStatistics, counts: TokenCount[] }> {
  const statistics: Mutable<BankStatistics> = noStatistics(yield * summarise(bank, accept))
  // Numbers, because a bank can have a million tags, and an object for each doubles the memory.
  const tagCounts = new SplitMap<number>()
  const speakerCounts = new SplitMap<number>()
  const counts: TokenCount[] = []
  let unembeddedCount = 0
  for (const entry of bank.entries.ordered()) {
    const { memory, passages } = entry
    if (entry.isVisible && (accept === undefined || accept(memory))) {
      statistics.passageCount += passages.length
      if (entry.isUnembedded) unembeddedCount++
      counts.push(memory.tokens)
      statistics.firstRetainedAt ??= memory.retainedAt
      for (const tag of memory.tags) tagCounts.set(tag, (tagCounts.get(tag) ?? 0) + 1)
      const speaker = speakerOf(memory)
      if (speaker !== null) speakerCounts.set(speaker, (speakerCounts.get(speaker) ?? 0) + 1)
      if (memory.occurredAt !== null) {
        statistics.firstOccurredAt = Math.min(statistics.firstOccurredAt ?? Infinity, memory.occurredAt)
        statistics.lastOccurredAt = Math.max(statistics.lastOccurredAt ?? -Infinity, memory.occurredAt)
      }
    }
    yield
  }
  statistics.tagCounts = yield * mostFrequentOf(tagCounts)
  statistics.speakerCounts = yield * mostFrequentOf(speakerCounts)
  return { statistics: { ...statistics, unembeddedCount }, counts }
}

function * mostFrequentOf (counts: SplitMap<number>): Steps<Map<string, number>> {
  const first = yield * mostFrequent(counts.entries())
  return new Map(first.map(({ value, count }) => [value, count]))
}

/** The statistics of a bank without memories. */
export function noStatistics (summary: BankKey & Partial<BankSummary>): BankStatistics {
  return {
    memoryCount: 0,
    lastRetainedAt: null,
    ...summary,
    passageCount: 0,
    unembeddedCount: 0,
    tokens: 0,
    tagCounts: new Map(),
    speakerCounts: new Map(),
    firstRetainedAt: null,
    firstOccurredAt: null,
    lastOccurredAt: null,
  }
}
