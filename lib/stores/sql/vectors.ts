import { createHash } from 'node:crypto'
import { type BankKey, bankKeyString } from '../../access/context.js'
import { giveWay, isDue } from '../../base/event-loop.js'
import { messageOf } from '../../base/message-of.js'
import { compareText } from '../../text/normal-form.js'
import type { EmbeddingSpace, LateVectors, NewMemory, StoreStart } from '../vector-store.js'
import type { Distribution } from './distribution.js'
import { retrySerializationFailures, type Executor, type Param, type Queries } from './executor.js'
import { countInto, INDEX_PREFIX, insertVectors, liveAt, unitVectorText } from './fragments.js'
import { hasVectors, NO_COUNTS } from './insertion.js'
import { countChange } from './removal.js'
import { bankParameters, toBankKey } from './rows.js'

/** Maximum number of banks in each set. */
const MAX_REMEMBERED = 100_000

interface SpaceRow {
  /** Whether the bank, which has another embedding space, has no vectors. */
  is_free: boolean
}

/** $1 bank in each; $2 model and $3 dimensions of an embedding space. */
export function makeSpaceStatements (schema: string) {
  const ofOther = 'v.bank_key = $1 and (v.model, v.dimensions) <> ($2, $3::int)'
  const withoutVectors = `not exists (select 1 from ${schema}.embeddings e where e.bank_key = $1)`
  const lock = `select v.model from ${schema}.embedding_spaces v where v.bank_key = $1 for update`
  return {
    /** Gives the space to a bank without one. */
    adopt: `insert into ${schema}.embedding_spaces as v (bank_key, model, dimensions) values ($1, $2, $3::int)
on conflict (bank_key) do nothing`,
    /** Returns a SpaceRow when the bank has another embedding space. */
    other: `select ${withoutVectors} as is_free from ${schema}.embedding_spaces v where ${ofOther}`,
    /** Waits for the writes of vectors into the bank, and excludes them until the end of the transaction. */
    lock,
    /**
     * Takes another space from a bank without vectors. It sees those that were committed before it began. Not an
     * update: the lock of an insert does not see one that leaves the key as it is.
     */
    free: `delete from ${schema}.embedding_spaces v where ${ofOther} and ${withoutVectors}`,
    /** Locks the space like `lock`, unless a write of vectors into the bank is in progress; then it returns no row. */
    tryLock: `${lock} skip locked`,
    /** Takes the space from a bank without vectors, like `free`. */
    drop: `delete from ${schema}.embedding_spaces v where v.bank_key = $1 and ${withoutVectors}`,
  }
}

/**
 * Gives the bank an embedding space, unless it has vectors of another. A bank that has another space without vectors is
 * freed first, in a transaction that waits for the writes in progress: they may be storing vectors of that space.
 * @returns whether the bank has the space now
 */
export async function adoptSpace (
  executor: Executor, schema: string, bank: BankKey, { model, dimensions }: EmbeddingSpace,
): Promise<boolean> {
  const spaces = makeSpaceStatements(schema)
  const values = [...bankParameters(bank), model, dimensions]
  const other = await otherSpace(executor, schema, values)
  if (other === undefined) return true
  if (!other.is_free) return false
  return await retrySerializationFailures(async () => await executor.transaction(async (tx) => {
    await tx.query(spaces.lock, bankParameters(bank))
    await tx.query(spaces.free, values)
    return await otherSpace(tx, schema, values) === undefined
  }))
}

/**
 * Gives a space to a bank without one.
 * @param values bank, model and dimensions
 * @returns the space that the bank has instead
 */
async function otherSpace (queries: Queries, schema: string, values: Param[]): Promise<SpaceRow | undefined> {
  const { adopt, other } = makeSpaceStatements(schema)
  await queries.query(adopt, values)
  return (await queries.query<SpaceRow>(other, values))[0]
}

/**
 * Locks the bank's space, if it is still of this model, and then memories without vectors: $1 bank, $2 model, $3
 * dimensions, $4 now; for each memory $5 its id, $6 its fingerprint and $7 its number of vectors. The lock on the space
 * prevents a concurrent move of the bank to another model; those on memories prevent their concurrent removal. Returns
 * no row without the space.
 * @param more what the statement does with the memories: tables
 */
function lockUnembedded (schema: string, more = ''): string {
  return `with space as materialized (
  select v.model from ${schema}.embedding_spaces v where v.bank_key = $1 and v.model = $2
    and v.dimensions = $3::int for share
),
existing as materialized (
  select m.memory_id from ${schema}.memories m
  join unnest($5::text[]::uuid[], $6::text[], $7::text[]::int[]) as g(memory_id, fingerprint, vectors)
    on g.memory_id = m.memory_id and g.fingerprint = m.fingerprint and g.vectors = cardinality(m.passage_starts)
  where m.bank_key = $1 and m.memory_id = any($5::text[]::uuid[]) and exists (select 1 from space)
    and not m.embedded and ${liveAt('m', '$4::float8::bigint')}
  order by m.memory_id for no key update of m
)${more}
select array(select e.memory_id::text from existing e) as ids from space`
}

/** Marks memories that were given their vectors. */
function flagEmbedded (schema: string, locked: string): string {
  return `update ${schema}.memories m set embedded = true where m.bank_key = $1 and m.memory_id ${locked}`
}

/** As `lockUnembedded`, and adds their vectors: $8 to $10 as insertVectors, $11 shard of the statistics. */
function attachStatement (schema: string): string {
  const locked = 'in (select e.memory_id from existing e)'
  return lockUnembedded(schema, `,
added as (
  ${insertVectors(schema, locked, 8)}
),
flagged as (
  ${flagEmbedded(schema, locked)} returning m.memory_id
),
counted as (
  ${countInto(schema, 'select $1, $11::smallint, 0, count(*), 0, 0, 0 from flagged f having count(*) > 0')}
)`)
}

interface BankVectorsOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  distribution: Distribution
  nextShard: () => number
}

/**
 * Gives banks the embedding space of their vectors, and stores vectors after their memories. Which banks have the
 * configured space, and which have another, is remembered.
 */
export class BankVectors {
  readonly #options: BankVectorsOptions
  readonly #adopted = new Set<string>()
  readonly #foreign = new Set<string>()
  #space: EmbeddingSpace | undefined
  #warn: (message: string) => void = () => {}

  constructor (options: BankVectorsOptions) {
    this.#options = options
  }

  start (space: EmbeddingSpace | undefined, warn: (message: string) => void): void {
    this.#space = space
    this.#warn = warn
  }

  /**
   * Gives the bank the configured space, unless it has vectors of another, when memories have vectors.
   * @returns the configured space; undefined when none of the memories has a vector
   */
  async adopt (bank: BankKey, memories: readonly NewMemory[]): Promise<EmbeddingSpace | undefined> {
    return memories.some(hasVectors) ? await this.#adopt(bank) : undefined
  }

  /** Adds the vectors that were not stored with their memories, because the bank did not have the space any more. */
  async attachMissing (bank: BankKey, memories: readonly NewMemory[], now: number): Promise<void> {
    if (await this.#readopt(bank)) await this.attach(bank, memories.flatMap(toLateVectors), now)
    else this.#noteOtherSpace(bank)
  }

  async attach (bank: BankKey, vectors: readonly LateVectors[], now: number): Promise<number> {
    const items = [...new Map(vectors.map((late) => [late.memoryId, late])).values()]
      .sort((a, b) => compareText(a.memoryId, b.memoryId))
    if (items.length === 0) return 0
    const [ids, ordinals, texts]: [string[], string[], string[]] = [[], [], []]
    for (const { memoryId, vectors } of items) {
      for (const [ordinal, vector] of vectors.entries()) {
        if (isDue()) await giveWay()
        ids.push(memoryId)
        ordinals.push(String(ordinal))
        texts.push(unitVectorText(vector))
      }
    }
    const { executor, schema, distribution, nextShard } = this.#options
    /** @returns how many memories were given their vectors; undefined when the bank does not have the space */
    const attachOnce = async () => {
      const { model, dimensions } = await this.#adopt(bank)
      const space = [...bankParameters(bank), model, dimensions]
      const values = [
        ...space, now, items.map((late) => late.memoryId), items.map((late) => late.fingerprint),
        items.map((late) => String(late.vectors.length)),
      ]
      return await retrySerializationFailures(async () => distribution === 'citus'
        ? await executor.transaction(async (tx) => await attachInOrder(tx, space, values))
        : (await executor.query<{ ids: string[] }>(
            attachStatement(schema), [...values, ids, ordinals, texts, nextShard()],
          ))[0]?.ids.length)
    }
    const attachInOrder = async (tx: Queries, space: Param[], values: Param[]) => {
      const [row] = await tx.query<{ ids: string[] }>(lockUnembedded(schema), values)
      if (row === undefined || row.ids.length === 0) return row && 0
      // They run in this order, and each is sent without waiting for the one before it.
      await Promise.all([
        tx.query(insertVectors(schema, '= any($4::text[]::uuid[])', 5), [...space, row.ids, ids, ordinals, texts]),
        tx.query(flagEmbedded(schema, '= any($2::text[]::uuid[])'), [...bankParameters(bank), row.ids]),
        countChange(tx, schema, bank, nextShard(), { ...NO_COUNTS, embedded: row.ids.length }),
      ])
      return row.ids.length
    }
    let attached = await attachOnce()
    while (attached === undefined && await this.#readopt(bank)) attached = await attachOnce()
    if (attached === undefined) this.#noteOtherSpace(bank)
    return attached ?? 0
  }

  /** Takes the space from a bank without vectors. A write that is adding vectors prevents that. */
  async dropSpace (tx: Queries, bank: BankKey): Promise<void> {
    const { tryLock, drop } = makeSpaceStatements(this.#options.schema)
    const locked = await tx.query(tryLock, bankParameters(bank))
    if (locked.length > 0) await tx.query(drop, bankParameters(bank))
  }

  async #adopt (bank: BankKey): Promise<EmbeddingSpace> {
    const space = this.#configured()
    const id = bankKeyString(bank)
    if (!this.#adopted.has(id)) {
      const { executor, schema } = this.#options
      if (await adoptSpace(executor, schema, bank, space)) addBounded(this.#adopted, id)
    }
    return space
  }

  /**
   * Gives the configured space to a bank in which a write has not found it: any gateway may have deleted the bank.
   * @returns whether the bank has the space now; false when it was given to another model
   */
  async #readopt (bank: BankKey): Promise<boolean> {
    const { executor, schema } = this.#options
    const { model, dimensions } = this.#configured()
    return await otherSpace(executor, schema, [...bankParameters(bank), model, dimensions]) === undefined
  }

  /** Warns the first time. */
  #noteOtherSpace (bank: BankKey): void {
    const id = bankKeyString(bank)
    this.#adopted.delete(id)
    if (!this.#foreign.has(id)) {
      this.#warn(`embedding_provider: the bank ${bank.bankId} was moved to another model; what is retained there has ` +
        'no vector until the server runs with that provider')
    }
    addBounded(this.#foreign, id)
  }

  #configured (): EmbeddingSpace {
    if (this.#space !== undefined) return this.#space
    throw new Error('The store was started without an embedding space and cannot keep vectors')
  }
}

function addBounded (set: Set<string>, id: string): void {
  if (set.size >= MAX_REMEMBERED) set.clear()
  set.add(id)
}

function toLateVectors ({ memoryId, fingerprint, passages }: NewMemory): LateVectors[] {
  const vectors = passages.flatMap(({ vector }) => vector ?? [])
  return vectors.length === 0 ? [] : [{ memoryId, fingerprint, vectors }]
}

export interface VectorIndexesOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  /** Default none. */
  distribution?: Distribution
  /** Minimum number of vectors of a bank with an index; 0: no bank has one, and those that exist are dropped. */
  from: number
  /** Maximum number of indexes. */
  maxIndexes: number
  /** Whether indexes are built and dropped, or only used. */
  build: boolean
  /** Interval of updates, in milliseconds; 0: only on request. */
  intervalMs?: number
}

interface Index {
  name: string
  valid: boolean
}

interface BigBank {
  key: BankKey
  vectors: number
  passagesPerMemory: number
  space: EmbeddingSpace
}

const INTERVAL_MS = 300_000
/** The table $1 and its partitions. */
const TABLES = `select to_regclass($1)::oid union all
  select i.inhrelid from pg_inherits i where i.inhparent = to_regclass($1)`
/**
 * A bank loses its index only when it is clearly smaller than the minimum; otherwise indexes would be rebuilt
 * repeatedly.
 */
const KEEP_SHARE = 0.5

/**
 * HNSW indexes (Malkov and Yashunin 2018) for the few largest banks, each a partial index of that bank's vectors. In
 * one index over all banks, the nearest neighbours of a small bank's query would be those of other banks; an index for
 * each bank would mean thousands of indexes.
 */
export class VectorIndexes {
  readonly #options: VectorIndexesOptions
  /** Passages per memory of each bank with an index. */
  #indexed: ReadonlyMap<string, number> = new Map()
  #timer: NodeJS.Timeout | undefined
  #inFlight: Promise<void> | undefined
  #stopped = false

  constructor (options: VectorIndexesOptions) {
    this.#options = options
  }

  /** Updates at once, then periodically. */
  start (space: EmbeddingSpace | undefined, { warn, info }: Required<Pick<StoreStart, 'warn' | 'info'>>): void {
    const { intervalMs = INTERVAL_MS } = this.#options
    if (space === undefined) return
    const run = () => {
      this.#inFlight ??= this.update(space, info)
        .catch((error: unknown) => {
          if (!this.#stopped) {
            warn(`vector_store: the indexes of big banks could not be updated: ${messageOf(error)}`)
          }
        })
        .finally(() => { this.#inFlight = undefined })
    }
    run()
    if (intervalMs > 0) this.#timer = setInterval(run, intervalMs).unref()
  }

  /** The mean number of passages of a memory of the bank; undefined without an index: a search is slower, but exact. */
  passagesPerMemory (bank: BankKey): number | undefined {
    return this.#indexed.get(bankKeyString(bank))
  }

  async stop (): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    // A build in progress is left to the server: closing the connection cancels it, and the next update drops what
    // remains.
    if (!this.#options.build) await this.#inFlight
  }

  /**
   * Determines which of the banks with vectors of this space have an index; before that, builds and drops indexes if
   * configured.
   * @param report receives messages on what is done
   */
  async update (space: EmbeddingSpace, report: (message: string) => void): Promise<void> {
    const refresh = async (): Promise<void> => {
      const present = await this.#present()
      const banksOfSpace = (await this.#bigBanks()).filter((bank) => (
        bank.space.model === space.model && bank.space.dimensions === space.dimensions
      ))
      const indexed = banksOfSpace.filter((bank) => present.get(indexName(bank))?.valid === true)
      this.#indexed = new Map(indexed.map(({ key, passagesPerMemory }) => [bankKeyString(key), passagesPerMemory]))
    }
    await refresh()
    if (!this.#options.build) return
    await this.maintain(report)
    await refresh()
  }

  /** Builds the missing indexes of large banks, and drops those of banks that have become small. */
  async maintain (report: (message: string) => void): Promise<void> {
    const { from, maxIndexes } = this.#options
    // An index is invalid while it is built, and servers must not take each other's builds for failed ones.
    if (await this.#isBuilding()) return
    const banks = (await this.#bigBanks()).slice(0, maxIndexes)
    const present = await this.#present()
    const kept = new Set(banks.map(indexName))
    for (const { name, valid } of present.values()) {
      // An invalid index remains from a build that was aborted.
      if (!this.#stopped && (!kept.has(name) || !valid)) await this.#drop(name)
    }
    for (const bank of banks) {
      if (this.#stopped || bank.vectors < from || present.get(indexName(bank))?.valid === true) continue
      report(`vector_store: building the vector index of a bank of ${bank.vectors} vectors`)
      await this.#build(bank)
    }
  }

  /** Largest first. */
  async #bigBanks (): Promise<BigBank[]> {
    const { executor, schema, from } = this.#options
    if (from === 0) return []
    const rows = await executor.read<{
      bank_key: string, model: string, dimensions: number, vectors: number, density: number
    }>(`
select s.bank_key, v.model, v.dimensions, sum(s.passages)::float8 as vectors,
  (sum(s.passages) / greatest(1, sum(s.memories)))::float8 as density
from ${schema}.bank_statistics s join ${schema}.embedding_spaces v on v.bank_key = s.bank_key
group by s.bank_key, v.model, v.dimensions having sum(s.embedded) > 0 and sum(s.passages) >= $1::float8
order by 4 desc, s.bank_key limit 1000`, [Math.ceil(from * KEEP_SHARE)])
    return rows.map(({ vectors, density, model, dimensions, ...row }) => (
      { key: toBankKey(row), vectors, passagesPerMemory: density, space: { model, dimensions } }
    ))
  }

  async #present (): Promise<Map<string, Index>> {
    const { executor, schema } = this.#options
    const rows = await executor.read<Index>(`select c.relname as name, x.indisvalid as valid from pg_index x
      join pg_class c on c.oid = x.indexrelid
where x.indrelid in (${TABLES}) and starts_with(c.relname::text, $2)`, [`${schema}.embeddings`, INDEX_PREFIX])
    return new Map(rows.map((row) => [row.name, row]))
  }

  async #isBuilding (): Promise<boolean> {
    const { executor, schema, distribution = 'none' } = this.#options
    if (distribution === 'none') {
      const [row] = await executor.read<{ building: boolean }>(
        `select exists (select 1 from pg_stat_progress_create_index where relid in (${TABLES})) as building`,
        [`${schema}.embeddings`],
      )
      return row?.building === true
    }
    // Each node sees its own builds, and has the table and its shards, whose names end with a number.
    const [row] = await executor.read<{ building: boolean }>(
      'select exists (select 1 from run_command_on_all_nodes($1) r where r.result <> \'0\') as building',
      [`select count(*) from pg_stat_progress_create_index p join pg_class c on c.oid = p.relid
where c.relnamespace = to_regnamespace(${literal(schema)}) and c.relname ~ '^embeddings(_[0-9]+)?$'`],
    )
    return row?.building === true
  }

  /**
   * Concurrent with reads and writes: only other schema changes wait for it. The index condition contains bank and
   * model as literals.
   */
  async #build (bank: BigBank): Promise<void> {
    const { executor, schema, distribution = 'none' } = this.#options
    const { key, space } = bank
    // An index is built concurrently on the one partition that has the bank; Citus builds it on every shard by itself.
    const place = distribution === 'citus' ? `to_regclass('${schema}.embeddings')` : 'e.tableoid::regclass'
    const [found] = await executor.read<{ name: string }>(
      `select ${place}::text as name from ${schema}.embeddings e where e.bank_key = $1 limit 1`, bankParameters(key),
    )
    if (found === undefined) return
    await executor.maintain(`create index concurrently if not exists ${indexName(bank)}
on ${found.name}
using hnsw ((embedding::halfvec(${Math.trunc(space.dimensions)})) halfvec_cosine_ops)
where bank_key = ${literal(bankKeyString(key))} and model = ${literal(space.model)}`)
  }

  async #drop (name: string): Promise<void> {
    await this.#options.executor.maintain(`drop index concurrently if exists ${this.#options.schema}.${name}`)
  }
}

function indexName ({ key, space }: BigBank): string {
  const digest = createHash('sha256').update(JSON.stringify([bankKeyString(key), space.model, space.dimensions]))
    .digest('hex')
  return `${INDEX_PREFIX}${digest.slice(0, 32)}`
}

/** DDL statements take no parameters: a string literal with quotes and backslashes escaped. */
function literal (text: string): string {
  return `E'${text.replaceAll('\\', '\\\\').replaceAll('\'', '\'\'')}'`
}
