import type { BankKey } from '../../access/context.js'
import { dayOf } from '../../base/days.js'
import { giveWay, isDue } from '../../base/event-loop.js'
import type { Mutable } from '../../base/members.js'
import { compareText } from '../../text/normal-form.js'
import { bySequence } from '../context.js'
import { mostFrequent } from '../most-frequent.js'
import {
  type BankStatistics, type BankSummary, type ConversationSummary, type DayCounts, type DayRange,
  type ListConversationsRequest, type ListRequest, type Memory, memoryOf, type Neighbourhood, type NeighboursRequest,
  type Unembedded,
} from '../vector-store.js'
import type { Accept, Bank, Entry } from './bank.js'
import { placeIn } from './sorted-list.js'

// Each function reads the bank as it is at the call, however often it gives the event loop back.

export async function listPage (
  bank: Bank, { after, limit, order = 'newest', offset = 0 }: ListRequest, accept: Accept,
): Promise<Memory[]> {
  const entries = bank.ordered.snapshot()
  const page: Memory[] = []
  const isForwards = order === 'oldest'
  const step = isForwards ? 1 : -1
  let at = isForwards ? 0 : entries.length - 1
  if (after !== undefined) {
    at = isForwards
      ? placeIn(entries, (entry) => comparePlaces(entry, after) <= 0)
      : placeIn(entries, (entry) => comparePlaces(entry, after) < 0) - 1
  }
  let toSkip = offset
  for (; at >= 0 && at < entries.length && page.length < limit; at += step) {
    if (isDue()) await giveWay()
    const { memory } = entries[at]!
    if ((accept === undefined || accept(memory)) && toSkip-- <= 0) page.push(memory)
  }
  return page
}

function comparePlaces (
  { memory: { retainedAt, memoryId } }: Entry, place: NonNullable<ListRequest['after']>,
): number {
  return retainedAt - place.retainedAt || compareText(memoryId, place.memoryId)
}

/** The number of memories, up to `limit`. */
export async function countUpTo (bank: Bank, limit: number, accept: Accept): Promise<number> {
  if (accept === undefined) return Math.min(limit, bank.size)
  let count = 0
  for (const { memory } of bank.ordered.snapshot()) {
    if (count >= limit) break
    if (isDue()) await giveWay()
    if (accept(memory)) count++
  }
  return count
}

export function neighbourhood (
  bank: Bank, memoryId: string, { before, after }: NeighboursRequest,
): Neighbourhood | undefined {
  const entry = bank.last(memoryId)
  if (entry === undefined) return undefined
  const { memory } = entry
  // What is past has no place in its document any more.
  if (memory.state !== 'current') return { memory: memoryOf(memory), before: [], after: [] }
  // Its sequence is the memories of its day, which a search uses as context: they are not a document.
  if (memory.documentId === null) return { memory, before: [], after: [] }
  const sequence = bank.document(memory.documentId)
  const at = placeIn(sequence, (other) => bySequence(other, entry) < 0)
  const memories = (from: number, to: number) => sequence.slice(Math.max(0, from), to).map((other) => other.memory)
  return { memory, before: memories(at - before, at), after: memories(at + 1, at + 1 + after) }
}

/** Memories without vectors, by id. @param after excludes memories up to this id */
export function unembeddedPage (bank: Bank, limit: number, after: string | undefined): Unembedded[] {
  const { items } = bank.unembedded
  const start = after === undefined ? 0 : placeIn(items, ({ memory }) => memory.memoryId <= after)
  return items.slice(start, start + limit).map(({ memory, fingerprint, passages }) => ({
    bank: bank.key, memory, fingerprint, passages: passages.map(({ start, end }) => ({ start, end })),
  }))
}

/** Memories by the day on which they were retained. */
export async function countDays (bank: Bank, { from, until }: DayRange): Promise<DayCounts> {
  const entries = bank.ordered.snapshot()
  const before = placeIn(entries, ({ memory }) => dayOf(memory.retainedAt) < from)
  const byDay = new Map<number, number>()
  for (let at = before; at < entries.length; at++) {
    if (isDue()) await giveWay()
    const day = dayOf(entries[at]!.memory.retainedAt)
    if (day > until) break
    byDay.set(day, (byDay.get(day) ?? 0) + 1)
  }
  return { before: Math.min(before, placeIn(entries, ({ memory }) => dayOf(memory.retainedAt) <= until)), byDay }
}

export async function conversationsPage (
  bank: Bank, { limit, after }: ListConversationsRequest,
): Promise<ConversationSummary[]> {
  const found = new Map<string, { conversationId: string, messageCount: number, lastRetainedAt: number }>()
  // Oldest first, so the last message of each is the newest.
  for (const { memory: { message, documentId, retainedAt } } of bank.ordered.snapshot()) {
    if (isDue()) await giveWay()
    if (message === null || documentId === null) continue
    if (after !== undefined && compareText(documentId, after) <= 0) continue
    const messageCount = (found.get(documentId)?.messageCount ?? 0) + 1
    found.set(documentId, { conversationId: documentId, messageCount, lastRetainedAt: retainedAt })
  }
  return [...found.values()]
    .sort((a, b) => compareText(a.conversationId, b.conversationId))
    .slice(0, limit)
}

export function summarise (bank: Bank): BankSummary {
  return { ...bank.key, memoryCount: bank.size, lastRetainedAt: bank.lastRetainedAt }
}

export async function collectStatistics (bank: Bank): Promise<BankStatistics> {
  const statistics: Mutable<BankStatistics> = { ...noStatistics(bank.key), ...summarise(bank) }
  const tagCounts = new Map<string, number>()
  const speakerCounts = new Map<string, number>()
  let unembeddedCount = 0
  for (const { memory, passages, isUnembedded } of bank.ordered.snapshot()) {
    if (isDue()) await giveWay()
    statistics.passageCount += passages.length
    if (isUnembedded) unembeddedCount++
    statistics.tokens += memory.tokens.value
    statistics.firstRetainedAt ??= memory.retainedAt
    for (const tag of memory.tags) tagCounts.set(tag, (tagCounts.get(tag) ?? 0) + 1)
    const { speaker } = memory
    if (speaker !== null) speakerCounts.set(speaker, (speakerCounts.get(speaker) ?? 0) + 1)
    if (memory.occurredAt !== null) {
      statistics.firstOccurredAt = Math.min(statistics.firstOccurredAt ?? Infinity, memory.occurredAt)
      statistics.lastOccurredAt = Math.max(statistics.lastOccurredAt ?? -Infinity, memory.occurredAt)
    }
  }
  statistics.tagCounts = await mostFrequentOf(tagCounts)
  statistics.speakerCounts = await mostFrequentOf(speakerCounts)
  return { ...statistics, unembeddedCount }
}

async function mostFrequentOf (counts: ReadonlyMap<string, number>): Promise<Map<string, number>> {
  return new Map((await mostFrequent(counts)).map(({ value, count }) => [value, count]))
}

/** The statistics of a bank without memories. */
export function noStatistics ({ tenantId, bankId }: BankKey): BankStatistics {
  return {
    tenantId,
    bankId,
    memoryCount: 0,
    lastRetainedAt: null,
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
