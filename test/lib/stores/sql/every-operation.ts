import { bankKeyString, type BankKey } from '../../../../lib/access/context.js'
import type { Executor, Param, Queries, Transaction } from '../../../../lib/stores/sql/executor.js'
import { Reembedding } from '../../../../lib/stores/sql/reembedding.js'
import type { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import { memoryOf, type NewMemory, type Revision } from '../../../../lib/stores/vector-store.js'
import { REMOVE } from '../../../contract/vector-store/setup.js'
import { newMemories, newMemory, NOW } from '../../../helpers/memories.js'

/** The table that is not of banks: the list of changes of configurations is of all banks. */
export const GLOBAL = 'bank_configuration_changes'

interface Sent {
  text: string
  params: readonly Param[]
}

/** An executor that notes each statement before it is run. */
export function noting (executor: Executor, note: (queries: Queries, sent: Sent) => Promise<void>): Executor {
  const noted = (queries: Queries): Queries['query'] => async (text, params = []) => {
    await note(queries, { text, params })
    return await queries.query(text, params)
  }
  const plain: Queries = { query: async (text, params) => await executor.query(text, params) }
  return {
    query: noted(plain),
    read: noted(plain),
    transaction: async (work, options) => await executor.transaction(async (tx) => {
      const inside: Transaction = { query: noted(tx), script: async (text) => { await tx.script(text) } }
      return await work(inside)
    }, { ...options, snapshot: false }),
    maintain: async (text) => { await executor.maintain(text) },
    close: async () => {},
  }
}

/** Memories of which some have documents, tags, speakers, times and an end. */
export async function manyMemories (): Promise<NewMemory[]> {
  const vectors = [[1, 0, 0, 0]]
  return [
    ...await newMemories(['An otter swims.', 'Where does it sleep?', 'In the reeds.'], {
      documentId: 'diary', vectors,
    }),
    await newMemory('A heron waits.', { tags: ['bird'], occurredAt: NOW - 5, vectors }),
    await newMemory('A note that ends.', { expiresAt: NOW + 5, vectors }),
  ]
}

/** Does every operation on a bank, writes and reads, once; afterwards it has no memory and no configuration. */
export async function everyOperation (store: SqlVectorStore, key: BankKey): Promise<void> {
  const filters = {}
  const keyed = { key: 'k'.repeat(64), requestFingerprint: 'f', context: 'null' }
  const [late, ...memories] = await manyMemories()
  await store.insert(key, memories, { now: NOW, idempotency: keyed })
  await store.findIdempotencyRecord(key, keyed.key, NOW)
  const bare = { ...late!, passages: late!.passages.map(({ vector: _, ...passage }) => passage) }
  await store.insert(key, [bare], { now: NOW })
  await store.insert(key, [{ ...await newMemory('higher'), fingerprint: 'same', trust: 'suspect' }], { now: NOW })
  await store.insert(key, [{ ...await newMemory('higher'), fingerprint: 'same', trust: 'trusted' }], { now: NOW })
  await store.attachVectors(key, [{
    memoryId: bare.memoryId, fingerprint: bare.fingerprint, vectors: late!.passages.map(({ vector }) => vector!),
  }], NOW)
  const lexical = { terms: ['otter', 'heron'], k1: 0.9, length: { pivot: 25 }, context: true }
  const semantic = { vector: Float32Array.of(1, 0, 0, 0) }
  for (const strategies of [{ lexical }, { semantic }, { lexical, semantic }]) {
    for (const some of [filters, { tags: { values: ['bird'], match: 'any' as const } }, { documentIds: ['diary'] }]) {
      await store.search({ banks: [key], now: NOW, limit: 5, filters: some, ...strategies })
    }
  }
  await store.get(key, bare.memoryId, NOW)
  await store.findRepeated(key, bare.fingerprint, NOW)
  await store.list(key, { now: NOW, limit: 2, filters })
  await store.countMemories(key, { now: NOW, filters, limit: 5 })
  await store.neighbours(key, bare.memoryId, { now: NOW, before: 2, after: 2 })
  await store.statistics(key, NOW)
  await store.listConversations(key, { now: NOW, limit: 5 })
  await store.countByDay(key, { now: NOW, from: 0, until: 30_000 })
  let scanned = 0
  for await (const { memoryId } of (await store.scan(key, NOW)).memories) scanned += memoryId.length > 0 ? 1 : 0
  if (scanned === 0) throw new Error('The scan is empty')
  await store.import(key, memories, { now: NOW, onConflict: 'overwrite' })
  await store.replaceDocuments(
    key, { documentIds: ['diary'], keep: [] },
    await newMemories(['New.'], { documentId: 'diary' }), { now: NOW },
  )
  await everyChange(store, key)
  await everyExtraction(store, key)
  const change = { updatedAt: NOW, updatedBy: null }
  await store.bankConfigs.write(key, { document: '{}', ...change })
  await store.bankConfigs.write(key, { document: null, ...change })
  await store.bankConfigs.write(key, { document: '{}', ...change })
  await store.bankConfigs.read([key])
  await store.bankConfigs.history(key, { limit: 9 })
  const usage = { bank: key, day: 1, counter: 'c', amount: 1 }
  await store.reserveUsage([{ ...usage, limit: 9 }, { ...usage, counter: 'd', limit: 9 }])
  await store.adjustUsage([usage])
  await store.countRate?.(`${bankKeyString(key)} recall`, 1)
  await store.countRate?.(`${bankKeyString(key)} recall`, -1)
  await store.remove(key, { kind: 'ids', memoryIds: [bare.memoryId] }, REMOVE)
  await store.remove(key, { kind: 'filters', filters: { documentIds: ['diary'] } }, REMOVE)
  await store.remove(key, { kind: 'all' }, { ...REMOVE, dryRun: true })
  await store.remove(key, { kind: 'all' }, REMOVE)
  await store.removeBank(key, NOW)
}

/** Notes extractions, takes, settles and ends them, and removes what facts come from. */
async function everyExtraction (store: SqlVectorStore, key: BankKey): Promise<void> {
  const sources = await newMemories(['A stoat hunts.', 'A stoat rests.'], { documentId: 'turns' })
  const ids = sources.map(({ memoryId }) => memoryId).sort()
  const fact = await newMemory('Stoats hunt.', { kind: 'fact', derivedFrom: ids, documentId: 'turns' })
  const until = NOW + 10
  await store.insert(key, sources, { now: NOW, extract: true })
  await store.takeExtractions(key, { now: NOW, until, limit: 9 })
  await store.settleExtractions(key, { memoryIds: ids, until }, { retryAt: NOW, isCounted: false })
  await store.takeExtractions(key, { now: NOW, until, limit: 9 })
  await store.insert(key, [fact], { now: NOW, extracted: { memoryIds: ids, until } })
  await store.settleExtractions(key, { memoryIds: ids, until })
  await store.replaceDocuments(key, { documentIds: ['turns'], keep: [ids[0]!] }, [], { now: NOW })
  await store.revise(key, [nextOf({ ...fact, state: 'retired' }, 2)], { now: NOW })
  await store.remove(key, { kind: 'ids', memoryIds: ids }, REMOVE)
}

/** Supersedes, revises, redacts and reads the past. */
async function everyChange (store: SqlVectorStore, key: BankKey): Promise<void> {
  const [first, second, third] = [
    await newMemory('Lyon.', { key: 'home', documentId: 'facts', vectors: [[1, 0, 0, 0]] }),
    await newMemory('Nice.', { key: 'home', documentId: 'facts', vectors: [[0, 1, 0, 0]] }),
    await newMemory('An otter.', { expiresAt: NOW + 100 }),
  ]
  await store.insert(key, [first, third], { now: NOW })
  await store.insert(key, [{ ...second, supersedes: [third.memoryId] }], { now: NOW })
  const next = await newMemory('Paris.', { memoryId: second.memoryId, key: 'home', vectors: [[0, 0, 1, 0]] })
  await store.revise(key, [{ ...nextOf(next, 2), passages: next.passages }], { now: NOW })
  await store.revise(key, [nextOf({ ...next, key: null, state: 'retired' }, 3)], { now: NOW })
  await store.revise(key, [nextOf({ ...next, key: null }, 4)], { now: NOW })
  await store.versions(key, second.memoryId, NOW)
  await store.redact(key, second.memoryId, 1, { now: NOW })
  await store.changedAfter(key, { instant: 0, now: NOW, limit: 10 })
  await store.countRemovedAfter(key, 0)
  const strategies = {
    lexical: { terms: ['paris'], k1: 0.9, length: { pivot: 25 }, context: true },
    semantic: { vector: Float32Array.of(1, 0, 0, 0) },
  }
  const filters = { state: 'all', asOf: NOW, validAt: NOW } as const
  await store.search({ banks: [key], now: NOW, limit: 5, filters, ...strategies })
  await store.list(key, { now: NOW, limit: 2, filters })
  await store.countMemories(key, { now: NOW, filters, limit: 5 })
  await store.neighbours(key, first.memoryId, { now: NOW, before: 2, after: 2 })
  const proposal = {
    proposalId: first.memoryId,
    memoryId: second.memoryId,
    maySupersede: third.memoryId,
    because: 'value',
    createdAt: NOW,
    state: 'open',
    decidedAt: null,
    decidedBy: null,
  } as const
  await store.proposals.add(key, [proposal])
  await store.proposals.list(key, { state: 'open', now: NOW, limit: 9 })
  await store.proposals.list(key, { state: 'dismissed', now: NOW, limit: 9 })
  await store.proposals.get(key, proposal.proposalId, NOW)
  const decision = { state: 'dismissed', decidedAt: NOW, decidedBy: null } as const
  await store.proposals.decide(key, proposal.proposalId, 'open', decision)
  const earlier = { ...first, endedAt: NOW, redacted: false }
  await store.import(key, [
    { ...first, version: 2, state: 'retired', earlier: [earlier] }, third,
  ], { now: NOW, onConflict: 'overwrite' })
  await store.import(key, [
    { ...await newMemory('A stoat.', { memoryId: third.memoryId }), revises: third.fingerprint },
  ], { now: NOW, onConflict: 'revise' })
  await store.replaceDocuments(
    key, { documentIds: ['facts'], keep: [] }, [await newMemory('Home.', { key: 'home', documentId: 'facts' })],
    { now: NOW },
  )
}

function nextOf (memory: NewMemory, version: number): Revision {
  return { memory: { ...memoryOf(memory), version }, fingerprint: memory.fingerprint }
}

/** Moves banks to another model, two memories at a time. */
export function nextModel (executor: Executor, schema: string): Reembedding {
  return new Reembedding({
    executor,
    schema,
    space: { model: 'next', dimensions: 2 },
    embed: async (texts) => texts.map(() => Float32Array.of(1, 0)),
    batch: 2,
    pause: async () => {},
  })
}
