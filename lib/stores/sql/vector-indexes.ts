import { createHash } from 'node:crypto'
import { bankKeyString, type BankKey } from '../../identity/context.js'
import type { EmbeddingSpace, StoreStart } from '../vector-store.js'
import type { Executor } from './executor.js'
import { toBankKey } from './rows.js'
import { messageOf } from '../../errors/message-of.js'

export interface VectorIndexesOptions {
  executor: Executor
  /** Quoted. */
  schema: string
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
const PREFIX = 'embeddings_hnsw_'
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

  /** Whether the bank is known to have a vector index. Without one a search is slower, but exact. */
  has (bank: BankKey): boolean {
    return this.#indexed.has(bankKeyString(bank))
  }

  /** The mean number of passages of a memory of the bank; undefined without an index. */
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
where x.indrelid = to_regclass($1) and c.relname like $2`, [
  `${schema}.embeddings`, `${PREFIX.replaceAll('_', '\\_')}%`,
    ])
    return new Map(rows.map((row) => [row.name, row]))
  }

  async #isBuilding (): Promise<boolean> {
    const { executor, schema } = this.#options
    const [row] = await executor.read<{ building: boolean }>(
      'select exists (select 1 from pg_stat_progress_create_index where relid = to_regclass($1)) as building',
      [`${schema}.embeddings`],
    )
    return row?.building === true
  }

  /**
   * Concurrent with reads and writes: only other schema changes wait for it. The index condition contains bank and
   * model as literals.
   */
  async #build (bank: BigBank): Promise<void> {
    const { executor, schema } = this.#options
    const { key, space } = bank
    await executor.maintain(`create index concurrently if not exists ${indexName(bank)} on ${schema}.embeddings
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
  return `${PREFIX}${digest.slice(0, 32)}`
}

/** DDL statements take no parameters: a string literal with quotes and backslashes escaped. */
function literal (text: string): string {
  return `E'${text.replaceAll('\\', '\\\\').replaceAll('\'', '\'\'')}'`
}
