import type { BankKey } from '../../access/context.js'
import { embeddedTexts, nameOf } from '../speaker.js'
import type { EmbeddingSpace } from '../vector-store.js'
import { retrySerializationFailures, type Executor, type Param, type Queries } from './executor.js'
import { insertVectors, unitVectorText, STATISTICS_SHARDS } from './fragments.js'
import { NO_COUNTS } from './insertion.js'
import { countChange } from './removal.js'
import { bankParameters, type BankRow, toBankKey } from './rows.js'
import { adoptSpace, makeSpaceStatements } from './vectors.js'

type ReembeddingStatements = Record<
  'progress' | 'missing' | 'lock' | 'flagAdded' | 'lockSpace' | 'move' | 'flag' | 'writers' | 'dropVectors', string
>

/** $1 bank in each; $2 the model, where needed. */
export function makeReembeddingStatements (schema: string): ReembeddingStatements {
  const lacking = `not exists (
  select 1 from ${schema}.embeddings e
  where e.bank_key = $1 and e.memory_id = m.memory_id and e.model = $2
)`
  return {
    progress: `select count(*)::int as total, (count(*) filter (where not (${lacking})))::int as done
from ${schema}.memories m where m.bank_key = $1`,
    missing: `select m.memory_id::text as memory_id, m.fingerprint, m.text, m.speaker,
  m.passage_starts, m.passage_ends
from ${schema}.memories m
where m.bank_key = $1 and ($4::text is null or m.memory_id > $4::text::uuid) and ${lacking}
order by m.memory_id limit $3::int`,
    // The lock prevents the removal of a memory between the lookup and the insert, which would leave its vector behind.
    // A memory with another fingerprint or other passages has been replaced since its text was read; the next round
    // embeds the new ones. An equal text has other passages when the length of passages was configured anew.
    lock: `with existing as (
  select m.memory_id from ${schema}.memories m
  join unnest($2::text[]::uuid[], $3::text[], $4::text[], $5::text[]) as g(memory_id, fingerprint, starts, ends)
    on g.memory_id = m.memory_id and g.fingerprint = m.fingerprint
    and g.starts::int[] = m.passage_starts and g.ends::int[] = m.passage_ends
  where m.bank_key = $1 and m.memory_id = any($2::text[]::uuid[])
  order by m.memory_id for no key update of m
)
select array(select e.memory_id::text from existing e) as ids`,
    flagAdded: `with flagged as (
  update ${schema}.memories m set embedded = true
  where m.bank_key = $1 and m.memory_id = any($4::text[]::uuid[]) and not m.embedded
    and exists (
      select 1 from ${schema}.embedding_spaces v
      where v.bank_key = $1 and v.model = $2 and v.dimensions = $3::int
    )
  returning m.memory_id
)
select count(*)::int as embedded from flagged`,
    // Writes do not wait for the move, except those that only add vectors.
    lockSpace: `select (v.model = $2 and v.dimensions = $3::int) as is_configured_space
from ${schema}.embedding_spaces v where v.bank_key = $1 for no key update`,
    move: `update ${schema}.embedding_spaces v set model = $2, dimensions = $3::int
where v.bank_key = $1`,
    // Counts the rows that this statement changes, independent of concurrent writes.
    flag: `with flagged as (
  update ${schema}.memories m set embedded = not m.embedded
  where m.bank_key = $1 and m.embedded = ${lacking}
  returning m.embedded
)
select (count(*) filter (where f.embedded) - count(*) filter (where not f.embedded))::int as embedded from flagged f`,
    // Each write of vectors locks the bank's space. Joined with its row, the function runs where that row is.
    writers: `select l.virtualtransaction as writer from ${schema}.embedding_spaces v cross join pg_lock_status() l
where v.bank_key = $1 and l.locktype = 'relation' and l.relation = v.tableoid and l.mode = 'RowShareLock'
  and l.pid <> pg_backend_pid()`,
    dropVectors: `with old as (
  select e.memory_id, e.ordinal, e.model from ${schema}.embeddings e
  where e.bank_key = $1 and e.model <> $2
  order by e.memory_id, e.ordinal limit $3::int
),
dropped as (
  delete from ${schema}.embeddings e using old o
  where e.bank_key = $1 and e.memory_id = o.memory_id and e.ordinal = o.ordinal
    and e.model = o.model
  returning e.memory_id
)
select count(*)::int as dropped from dropped`,
  }
}

export interface ReembeddingOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  /** The new embedding space of the banks. */
  space: EmbeddingSpace
  /** @returns a vector of the space for each text, in order */
  embed: (texts: string[]) => Promise<Float32Array[]>
  /** Maximum number of memories whose texts are embedded together. */
  batch: number
  /** Waits before the next check for open transactions; in milliseconds. */
  pause: (ms: number) => Promise<void>
}

interface Progress {
  /** Memories of the bank with a vector of the space. */
  done: number
  total: number
}

/** The outcome for a bank. */
interface Reembedded {
  /** Memories that were given a vector. */
  embedded: number
  /** Whether the bank had another model before. */
  moved: boolean
  /**
   * False when a transaction from before the move is still open: a memory that it commits may lack a vector until the
   * next run.
   */
  settled: boolean
}

/** Maximum number of vectors of the old model that one statement deletes. */
const DROP_BATCH = 5000
const SETTLE_PAUSE_MS = 200
const SETTLE_PAUSES = 150

interface BareMemory {
  memory_id: string
  fingerprint: string
  text: string
  speaker: string | null
  passage_starts: number[]
  passage_ends: number[]
}

function textsOf ({ text, speaker, passage_starts: starts, passage_ends: ends }: BareMemory): string[] {
  return embeddedTexts({
    text,
    name: nameOf({ speaker }),
    passages: starts.map((start, ordinal) => ({ start, end: ends[ordinal]! })),
  })
}

/**
 * Moves banks to another embedding model while they are in use. The new vectors are added beside the old ones, batch by
 * batch, and when none is missing one update moves the bank; until then searches use the old vectors. An interrupted
 * run resumes, because its progress is in the table.
 */
export class Reembedding {
  readonly #options: ReembeddingOptions
  readonly #sql: ReembeddingStatements

  constructor (options: ReembeddingOptions) {
    this.#options = options
    this.#sql = makeReembeddingStatements(options.schema)
  }

  /** Banks that hold memories, with the number of memories, ordered by tenant and name. */
  async banks (): Promise<Array<{ bank: BankKey, memories: number }>> {
    const { executor, schema } = this.#options
    const rows = await executor.read<BankRow & { memories: number }>(`
select s.bank_key, sum(s.memories)::float8 as memories from ${schema}.bank_statistics s
group by s.bank_key having sum(s.memories) > 0 order by s.bank_key`)
    return rows.map((row) => ({ bank: toBankKey(row), memories: row.memories }))
  }

  /** Moves one bank to the space. @throws what `embed` rejects with, and SqlError */
  async reembed (bank: BankKey, onProgress: (progress: Progress) => void): Promise<Reembedded> {
    const { executor, space } = this.#options
    // A bank without vectors adopts the space first, so that memories retained from now on get vectors of it.
    await adoptSpace(executor, this.#options.schema, bank, space)
    let embedded = await this.#fill(bank, onProgress)
    let moved: 'current' | 'missing' | 'moved'
    while ((moved = await this.#move(bank)) === 'missing') embedded += await this.#fill(bank, onProgress)
    let settled = true
    if (moved === 'moved') {
      settled = await this.#settle(bank)
      embedded += await this.#fill(bank, onProgress)
    }
    // Needed also when an earlier run ended right after the move.
    await this.#drop(bank)
    return { embedded, moved: moved === 'moved', settled }
  }

  /** Adds a vector to every memory that lacks one. No connection is held during the embedding. */
  async #fill (bank: BankKey, onProgress: (progress: Progress) => void): Promise<number> {
    const { executor, schema, space: { model, dimensions }, embed, batch } = this.#options
    const key = bankParameters(bank)
    let filled = 0
    let last: string | null = null
    const [before] = await executor.read<Progress>(this.#sql.progress, [...key, model])
    for (;;) {
      onProgress({ done: before!.done + filled, total: Math.max(before!.total, before!.done + filled) })
      const memories: BareMemory[] = await executor.read<BareMemory>(this.#sql.missing, [...key, model, batch, last])
      if (memories.length === 0) return filled
      const passages = memories.flatMap((memory) => (
        textsOf(memory).map((text, ordinal) => ({ id: memory.memory_id, ordinal: String(ordinal), text }))
      ))
      const vectors = await embed(passages.map(({ text }) => text))
      await retrySerializationFailures(async () => await executor.transaction(async (tx) => {
        const [locked] = await tx.query<{ ids: string[] }>(this.#sql.lock, [
          ...key, memories.map(({ memory_id: id }) => id), memories.map(({ fingerprint }) => fingerprint),
          memories.map(({ passage_starts: starts }) => `{${starts.join(',')}}`),
          memories.map(({ passage_ends: ends }) => `{${ends.join(',')}}`),
        ])
        const { ids } = locked!
        await tx.query(insertVectors(schema, '= any($4::text[]::uuid[])', 5), [
          ...key, model, dimensions, ids,
          passages.map(({ id }) => id), passages.map(({ ordinal }) => ordinal), vectors.map(unitVectorText),
        ])
        await this.#flag(tx, bank, 'flagAdded', [...key, model, dimensions, ids], memories.length)
      }))
      filled += memories.length
      last = memories.at(-1)!.memory_id
    }
  }

  /**
   * Moves the bank when at most one batch is missing: under constant writes, the last memories get their vectors right
   * after the move.
   * @returns 'current' when the bank has the space already, 'missing' when too many memories still lack a vector
   */
  async #move (bank: BankKey): Promise<'current' | 'missing' | 'moved'> {
    const { executor, batch, space: { model, dimensions } } = this.#options
    const key = bankParameters(bank)
    return await retrySerializationFailures(async () => await executor.transaction(async (tx: Queries) => {
      const lockSpace = async () => (
        await tx.query<{ is_configured_space: boolean }>(this.#sql.lockSpace, [...key, model, dimensions])
      )
      let [row] = await lockSpace()
      if (row === undefined) {
        // The bank was deleted meanwhile, and its space with it.
        await tx.query(makeSpaceStatements(this.#options.schema).adopt, [...key, model, dimensions])
        row = (await lockSpace())[0]
      }
      const missing = await tx.query(this.#sql.missing, [...key, model, batch + 1, null])
      if (missing.length > (row?.is_configured_space === true ? 0 : batch)) return 'missing'
      if (row?.is_configured_space === true) return 'current'
      await tx.query(this.#sql.move, [...key, model, dimensions])
      await this.#flag(tx, bank, 'flag', [...key, model], 0)
      return 'moved'
    }, { bulk: true }))
  }

  /** Marks memories, and counts those that have vectors of the bank's model now. */
  async #flag (
    tx: Queries, bank: BankKey, statement: 'flag' | 'flagAdded', values: Param[], shard: number,
  ): Promise<void> {
    const [row] = await tx.query<{ embedded: number }>(this.#sql[statement], values)
    const counts = { ...NO_COUNTS, embedded: row!.embedded }
    await countChange(tx, this.#options.schema, bank, shard % STATISTICS_SHARDS, counts)
  }

  /**
   * Waits, by means of their locks, for transactions that may have begun before the move: the memories that they store
   * have a vector of the old model.
   */
  async #settle (bank: BankKey): Promise<boolean> {
    const { executor, pause } = this.#options
    const writers = async () => {
      const rows = await executor.read<{ writer: string }>(this.#sql.writers, bankParameters(bank))
      return rows.map(({ writer }) => writer)
    }
    let before = new Set(await writers())
    for (let count = 0; before.size > 0; count++) {
      if (count === SETTLE_PAUSES) return false
      await pause(SETTLE_PAUSE_MS)
      const now = new Set(await writers())
      before = new Set([...before].filter((writer) => now.has(writer)))
    }
    return true
  }

  async #drop (bank: BankKey): Promise<void> {
    const { executor, space } = this.#options
    for (;;) {
      const values = [...bankParameters(bank), space.model, DROP_BATCH]
      const [row] = await retrySerializationFailures(async () => (
        await executor.query<{ dropped: number }>(this.#sql.dropVectors, values)
      ))
      if (row!.dropped < DROP_BATCH) return
    }
  }
}
