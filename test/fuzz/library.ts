import { deepEqual, equal, ok } from 'node:assert/strict'
import { AccessControl } from '../../lib/access/access-control.js'
import { boundsOf } from '../../lib/config/schema.js'
import { settingsOf } from '../../lib/config/config.js'
import { createMemoryService, type MemoryService } from '../../lib/operations/memory-service.js'
import type { MemoryRecord } from '../../lib/operations/schemas.js'
import { MOCK_EMBEDDINGS } from '../helpers/config.js'
import { countingIds, testClock, type TestClock } from '../helpers/clock.js'
import { ModelBank, tagged, type Draft, type Known } from './model.js'

const TENANTS = ['acme', null]
const BANKS = ['team', 'notes']
/** Words that no stemmer and no list of stop words changes. */
export const WORDS = ['otter', 'heron', 'birch', 'caf\u00e9', 'moss'] as const

export interface Place {
  tenant: number
  bank: number
}

/** All filters that are given must hold. */
export interface ForgetFilters {
  tags?: string[]
  documents?: string[]
  occurredAfter?: string
  retainedBefore?: string
}
export type ForgetWhat = { ids: number[] } | { filters: ForgetFilters, match: 'any' | 'all' } | 'all'

/** The library and a naive model of it, side by side: every operation runs on both, and a difference throws. */
export class Twins {
  readonly #memory: MemoryService
  readonly #clock: TestClock
  readonly #models = TENANTS.map(() => BANKS.map(() => new ModelBank()))
  readonly #exports: Array<{ text: string, memories: Known[] }> = []
  /** Every id that was ever given out: forgets also name those of other banks and those that are gone. */
  readonly #ids: string[] = []

  private constructor (memory: MemoryService, clock: TestClock) {
    this.#memory = memory
    this.#clock = clock
  }

  static async make (): Promise<Twins> {
    const clock = testClock()
    const settings = settingsOf(MOCK_EMBEDDINGS)
    const config = { file: {}, settings, baseDirectory: process.cwd() }
    const overrides = { clock, newId: countingIds() }
    return new Twins(await createMemoryService(config, new AccessControl(settings.access), overrides), clock)
  }

  advance (seconds: number): void {
    this.#clock.advance(seconds * 1000)
    for (const model of this.#models.flat()) model.expire(this.#clock())
  }

  /** @param seconds until the memory expires */
  async retain (
    place: Place, draft: Omit<Draft, 'expiresAt'>, seconds: number | undefined, times: number,
  ): Promise<void> {
    const full = this.#draft(draft, seconds)
    const item = { bank_id: nameOf(place), ...itemOf(full) }
    const answers =
      await Promise.all(Array.from({ length: times }, async () => await this.#memory.retain(item, contextOf(place))))
    // Which one of simultaneous repeats is stored is not specified, but the others must be repeats of it.
    for (const answer of answers.sort((a, b) => Number(b.stored) - Number(a.stored))) this.#stored(place, full, answer)
  }

  async retainBatch (place: Place, drafts: ReadonlyArray<Omit<Draft, 'expiresAt'>>): Promise<void> {
    const items = drafts.map((draft) => this.#draft(draft, undefined))
    const { results } =
      await this.#memory.retainBatch({ bank_id: nameOf(place), items: items.map(itemOf) }, contextOf(place))
    for (const [index, answer] of results.entries()) this.#stored(place, items[index]!, answer)
  }

  async forget (place: Place, what: ForgetWhat, dryRun: boolean): Promise<void> {
    const model = this.#model(place)
    const ids = what === 'all' || !('ids' in what)
      ? []
      : what.ids.map((index) => this.#ids[index % this.#ids.length]).filter((id) => id !== undefined)
    const picks = (memory: Known) => (
      what === 'all' || ('filters' in what ? passes(memory, what.filters, what.match) : ids.includes(memory.id))
    )
    if (what !== 'all' && 'ids' in what && ids.length === 0) return
    const selector = what === 'all'
      ? { scope: 'all' as const }
      : 'filters' in what ? wireOf(what.filters, what.match) : { memory_ids: ids }
    const answer = await this.#memory.forget({ bank_id: nameOf(place), dry_run: dryRun, ...selector }, contextOf(place))
    const gone = dryRun ? model.memories.filter(picks).map(({ id }) => id) : model.remove(picks)
    equal(answer.deleted_count, gone.length, 'forgotten')
    deepEqual([...answer.memory_ids].sort(), [...gone].sort())
  }

  async recall (
    place: Place, everywhere: boolean, words: readonly string[], tags: readonly string[], match: 'any' | 'all',
    limit: number,
  ): Promise<void> {
    const banks = everywhere ? BANKS : [nameOf(place)]
    const expected = banks.flatMap(
      (_, bank) => (everywhere ? this.#models[place.tenant]![bank]! : this.#model(place)).find(words, tags, match),
    )
    const { hits, total_available: total, truncated } = await this.#memory.recall({
      query: words.join(' '), banks, max_results: limit, ...(tags.length > 0 && { tags: [...tags], tags_match: match }),
    }, contextOf(place))
    equal(total, expected.length, 'available')
    equal(truncated, false)
    equal(hits.length, Math.min(limit, expected.length), 'hits')
    const keys = new Set(expected.map(({ id }) => id))
    for (const [index, hit] of hits.entries()) {
      ok(keys.has(hit.memory_id), `${hit.text} is no hit`)
      const next = hits[index + 1]
      ok(
        next === undefined || hit.score > next.score || (hit.score === next.score && hit.memory_id <= next.memory_id),
        'falling score, ties by id',
      )
    }
  }

  async export (place: Place): Promise<void> {
    const lines: string[] = []
    const exported = await this.#memory.exportBank({ bank_id: nameOf(place) }, contextOf(place))
    for await (const line of exported) lines.push(line)
    const [header, ...records] = lines.map((line) => JSON.parse(line) as MemoryRecord & { memory_count?: number })
    const expected = this.#model(place).newestFirst().reverse()
    equal(header!.memory_count, expected.length)
    deepEqual(records.map(known), expected)
    this.#exports.push({ text: lines.join(''), memories: expected })
  }

  async import (place: Place, which: number, onConflict: 'skip' | 'overwrite', twice: boolean): Promise<void> {
    const file = this.#exports[which % this.#exports.length]
    if (file === undefined) return
    const [header, ...rest] = file.text.split('\n')
    const bytes = Buffer.from([header, ...rest, ...(twice ? rest : [])].join('\n'))
    const bounds = boundsOf()
    const answer = await this.#memory.importBank(
      { bank_id: nameOf(place), bytes, on_conflict: onConflict, config: 'ignore', bounds }, contextOf(place),
    )
    deepEqual(answer, this.#model(place)
      .import(twice ? [...file.memories, ...file.memories] : file.memories, onConflict, this.#clock()))
  }

  /** Compares every read on both sides. */
  async compare (): Promise<void> {
    for (const [tenant, models] of this.#models.entries()) {
      for (const [bank, model] of models.entries()) await this.#compareBank({ tenant, bank }, model)
      const { banks } = await this.#memory.listBanks({}, contextOf({ tenant, bank: 0 }))
      const expected =
        models.flatMap((model, bank) => model.memories.length === 0 ? [] : [[BANKS[bank], model.memories.length]])
      deepEqual(banks.map(({ bank_id: name, memory_count: count }) => [name, count]), expected.sort())
    }
  }

  async #compareBank (place: Place, model: ModelBank): Promise<void> {
    const context = contextOf(place)
    const listed: MemoryRecord[] = []
    let cursor: string | null = null
    do {
      const page: { memories: MemoryRecord[], next_cursor: string | null } =
        await this.#memory.listMemories(
          { bank_id: nameOf(place), limit: 3, ...(cursor !== null && { cursor }) }, context,
        )
      listed.push(...page.memories)
      cursor = page.next_cursor
    } while (cursor !== null)
    const expected = model.newestFirst()
    deepEqual(listed.map(known), expected, 'list')
    const statistics = await this.#memory.getBankStatistics({ bank_id: nameOf(place) }, context)
    equal(statistics.memory_count, expected.length, 'count')
    equal(statistics.last_retained_at, expected[0]?.retainedAt ?? null)
    equal(statistics.first_retained_at, expected.at(-1)?.retainedAt ?? null)
    deepEqual(new Map(statistics.tags.map(({ tag, memory_count: count }) => [tag, count])), tagCounts(expected))
    for (const word of WORDS) await this.recall(place, false, [word], [], 'any', 1000)
    for (const id of this.#ids.slice(-5)) {
      const found = await this.#memory.getMemory({ bank_id: nameOf(place), memory_id: id }, context)
        .then(known, () => undefined)
      deepEqual(found, expected.find((memory) => memory.id === id), 'get')
    }
  }

  #draft (draft: Omit<Draft, 'expiresAt'>, seconds: number | undefined): Draft {
    return {
      ...draft, expiresAt: seconds === undefined ? null : new Date(this.#clock() + seconds * 1000).toISOString(),
    }
  }

  #stored (place: Place, draft: Draft, answer: { stored: boolean, deduplicated: boolean, memory_id: string }): void {
    const model = this.#model(place)
    const repeat = model.repeatOf(draft)
    equal(answer.stored, repeat === undefined, 'stored')
    equal(answer.deduplicated, repeat !== undefined)
    if (repeat !== undefined) {
      equal(answer.memory_id, repeat.id)
      return
    }
    ok(!this.#ids.includes(answer.memory_id), 'an id of its own')
    this.#ids.push(answer.memory_id)
    model.memories.push({
      ...draft,
      text: draft.text.trim(),
      tags: [...new Set(draft.tags)].sort(),
      id: answer.memory_id,
      retainedAt: new Date(this.#clock()).toISOString(),
    })
  }

  #model ({ tenant, bank }: Place): ModelBank {
    return this.#models[tenant]![bank]!
  }
}

function nameOf ({ bank }: Place): string {
  return BANKS[bank]!
}

function contextOf ({ tenant }: Place): { principal: string, tenantId: string | null } {
  return { principal: 'user:bob', tenantId: TENANTS[tenant]! }
}

function itemOf ({ text, tags, documentId, occurredAt, expiresAt }: Draft): { content: string, tags?: string[] } {
  return {
    content: text,
    ...(tags.length > 0 && { tags: [...tags] }),
    ...(documentId !== null && { document_id: documentId }),
    ...(occurredAt !== null && { occurred_at: occurredAt }),
    ...(expiresAt !== null && { expires_at: expiresAt }),
  }
}

function known (record: MemoryRecord): Known {
  return {
    id: record.memory_id,
    text: record.text,
    tags: record.tags,
    documentId: record.document_id,
    occurredAt: record.occurred_at,
    retainedAt: record.retained_at,
    expiresAt: record.expires_at,
  }
}

function tagCounts (memories: readonly Known[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const tag of memories.flatMap(({ tags }) => tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  return counts
}

function passes (
  memory: Known, { tags, documents, occurredAfter, retainedBefore }: ForgetFilters, match: 'any' | 'all',
): boolean {
  return (tags === undefined || tagged(memory, tags, match)) &&
    (documents === undefined || documents.some((id) => id === memory.documentId)) &&
    (occurredAfter === undefined || (memory.occurredAt !== null && memory.occurredAt >= occurredAfter)) &&
    (retainedBefore === undefined || memory.retainedAt < retainedBefore)
}

function wireOf ({ tags, documents, occurredAfter, retainedBefore }: ForgetFilters, match: 'any' | 'all') {
  return {
    ...(tags !== undefined && { tags, tags_match: match }),
    ...(documents !== undefined && { document_ids: documents }),
    ...(occurredAfter !== undefined && { occurred_after: occurredAfter }),
    ...(retainedBefore !== undefined && { retained_before: retainedBefore }),
  }
}
