import { giveWay, isDue } from '../../concurrency/event-loop.js'
import { type BankKey, bankKeyString } from '../../identity/context.js'
import { compareText } from '../../text/normal-form.js'
import type { EmbeddingSpace, LateVectors, NewMemory } from '../vector-store.js'
import type { Executor, Transaction } from './executor.js'
import { countInto, insertVectors, liveAt, unitVectorText } from './fragments.js'
import { hasVectors } from './insertion.js'
import { retrySerializationFailures } from './retrying.js'
import { bankParameters } from './rows.js'
import type { Statements } from './statements.js'

export interface AdoptionRow {
  /** Whether the bank has another embedding space, but no vectors. */
  is_free: boolean
  /** Whether the bank has another embedding space. */
  is_other: boolean
}

/** $1 bank in each; $2 model and $3 dimensions of an embedding space. */
export interface SpaceStatements {
  /** Gives the space to a bank without one. Returns an AdoptionRow. */
  adopt: string
  /** Waits for the writes of vectors into the bank, and excludes them until the end of the transaction. */
  lock: string
  /** Takes another space from a bank without vectors. It sees those that were committed before it began. */
  free: string
  /** Locks the space like `lock`, unless a write of vectors into the bank is in progress; then it returns no row. */
  tryLock: string
  /** Takes the space from a bank without vectors, like `free`. */
  drop: string
}

/** Statements that give embedding spaces to banks, for tables in a schema (quoted). */
export function makeSpaceStatements (schema: string): SpaceStatements {
  const ofOther = 'v.bank_key = $1 and (v.model, v.dimensions) <> ($2, $3::int)'
  const withoutVectors = `not exists (select 1 from ${schema}.embeddings e where e.bank_key = $1)`
  const lock = `select v.model from ${schema}.embedding_spaces v where v.bank_key = $1 for update`
  return {
    adopt: `with adopted as (
  insert into ${schema}.embedding_spaces as v (bank_key, model, dimensions) values ($1, $2, $3::int)
  on conflict (bank_key) do nothing returning v.model
)
select o.is_other, o.is_other and ${withoutVectors} as is_free
from (select exists (select 1 from ${schema}.embedding_spaces v where ${ofOther}) as is_other) o`,
    lock,
    // Not an update: the lock of an insert does not see one that leaves the key as it is.
    free: `delete from ${schema}.embedding_spaces v where ${ofOther} and ${withoutVectors}`,
    tryLock: `${lock} skip locked`,
    drop: `delete from ${schema}.embedding_spaces v where v.bank_key = $1 and ${withoutVectors}`,
  }
}

/** Maximum number of banks in each set. */
const MAX_REMEMBERED = 100_000

/** Caches which banks have the configured embedding space, and which have another. */
export class BankSpaces {
  readonly #executor: Executor
  readonly #statements: Statements
  readonly #adopted = new Set<string>()
  readonly #foreign = new Set<string>()
  #space: EmbeddingSpace | undefined
  #warn: (message: string) => void = () => {}

  constructor (executor: Executor, statements: Statements) {
    this.#executor = executor
    this.#statements = statements
  }

  start (space: EmbeddingSpace | undefined, warn: (message: string) => void): void {
    this.#space = space
    this.#warn = warn
  }

  /** Gives the bank the configured space, unless it has vectors of another. @returns the configured space */
  async adopt (bank: BankKey): Promise<EmbeddingSpace> {
    const space = this.#configured()
    const id = bankKeyString(bank)
    if (!this.#adopted.has(id)) {
      const hasSpace = await adoptSpace(this.#executor, this.#statements, bank, space)
      if (hasSpace) addBounded(this.#adopted, id)
    }
    return space
  }

  /**
   * Gives the configured space to a bank in which a write has not found it: any gateway may have deleted the bank.
   * @returns whether the bank has the space now; false when it was given to another model
   */
  async readopt (bank: BankKey): Promise<boolean> {
    const { model, dimensions } = this.#configured()
    const values = [...bankParameters(bank), model, dimensions]
    const [row] = await this.#executor.query<AdoptionRow>(this.#statements.spaces.adopt, values)
    return !row!.is_other
  }

  /** Records that the bank has another space, and warns the first time. */
  noteOtherSpace (bank: BankKey): void {
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

/**
 * Gives the bank an embedding space, unless it has vectors of another. A bank that has another space without vectors is
 * freed first, in a transaction that waits for the writes in progress: they may be storing vectors of that space.
 * @returns whether the bank has the space now
 */
export async function adoptSpace (
  executor: Executor, { spaces }: Statements, bank: BankKey, { model, dimensions }: EmbeddingSpace,
): Promise<boolean> {
  const values = [...bankParameters(bank), model, dimensions]
  const [row] = await executor.query<AdoptionRow>(spaces.adopt, values)
  if (row!.is_free !== true) return !row!.is_other
  return await retrySerializationFailures(async () => (
    await executor.transaction(async (tx) => {
      await tx.query(spaces.lock, bankParameters(bank))
      await tx.query(spaces.free, values)
      const [freed] = await tx.query<AdoptionRow>(spaces.adopt, values)
      return !freed!.is_other
    })
  ))
}

function addBounded (set: Set<string>, id: string): void {
  if (set.size >= MAX_REMEMBERED) set.clear()
  set.add(id)
}

export interface AttachedRow {
  attached: number
  /** Whether the bank's vectors are of the configured embedding space. */
  is_configured_space: boolean
}

export interface VectorStatements {
  /**
   * $1 bank, $2 model, $3 dimensions, $4 shard, $5 now; for each memory $6 its id, $7 its fingerprint and
   * $8 its number of vectors; for each vector $9 memory id, $10 ordinal and $11 text: adds vectors to memories without
   * them. Returns an AttachedRow.
   */
  attach: string
}

/** Statements on vectors that are stored after their memories, for tables in a schema (quoted). */
export function makeVectorStatements (schema: string): VectorStatements {
  return {
    // The lock on the space prevents a concurrent move of the bank to another model; those on memories prevent their
    // concurrent removal.
    attach: `with space as materialized (
  select v.model from ${schema}.embedding_spaces v where v.bank_key = $1 and v.model = $2
    and v.dimensions = $3::int for share
),
existing as materialized (
  select m.memory_id, m.expires_at from ${schema}.memories m
  join unnest($6::text[]::uuid[], $7::text[], $8::text[]::int[]) as g(memory_id, fingerprint, vectors)
    on g.memory_id = m.memory_id and g.fingerprint = m.fingerprint and g.vectors = cardinality(m.passage_starts)
  where m.bank_key = $1 and m.memory_id = any($6::text[]::uuid[]) and exists (select 1 from space)
    and not m.embedded and ${liveAt('m', '$5::float8::bigint')}
  order by m.memory_id for no key update of m
),
added as (
  ${insertVectors(schema)}
),
flagged as (
  update ${schema}.memories m set embedded = true from existing s where m.bank_key = $1
    and m.memory_id = s.memory_id
  returning m.memory_id
),
counted as (
  ${countInto(schema, '$4', 'select 0::float8, count(*), 0, 0, 0 from flagged f having count(*) > 0')}
)
select (select count(*)::int from flagged) as attached, exists (select 1 from space) as is_configured_space`,
  }
}

interface VectorWriterOptions {
  executor: Executor
  statements: Statements
  nextShard: () => number
}

/** Stores vectors after their memories, and gives banks the embedding space of the vectors. */
export class VectorWriter {
  readonly #options: VectorWriterOptions
  readonly #spaces: BankSpaces

  constructor (options: VectorWriterOptions) {
    this.#options = options
    this.#spaces = new BankSpaces(options.executor, options.statements)
  }

  start (space: EmbeddingSpace | undefined, warn: (message: string) => void): void {
    this.#spaces.start(space, warn)
  }

  /** @returns the embedding space of the vectors; undefined when none of the memories has any */
  async adopt (bank: BankKey, memories: readonly NewMemory[]): Promise<EmbeddingSpace | undefined> {
    return memories.some(hasVectors) ? await this.#spaces.adopt(bank) : undefined
  }

  /** Adds the vectors that were not stored with their memories, because the bank did not have the space any more. */
  async attachMissing (bank: BankKey, memories: readonly NewMemory[], now: number): Promise<void> {
    if (await this.#spaces.readopt(bank)) await this.attach(bank, memories.flatMap(toLateVectors), now)
    else this.#spaces.noteOtherSpace(bank)
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
    const values = [
      items.map((late) => late.memoryId), items.map((late) => late.fingerprint),
      items.map((late) => String(late.vectors.length)), ids, ordinals, texts,
    ]
    let row = await this.#attach(bank, values, now)
    while (!row.is_configured_space && await this.#spaces.readopt(bank)) row = await this.#attach(bank, values, now)
    if (!row.is_configured_space) this.#spaces.noteOtherSpace(bank)
    return row.attached
  }

  /** Takes the space from a bank without vectors. A write that is adding vectors prevents that. */
  async dropSpace (tx: Transaction, bank: BankKey): Promise<void> {
    const { spaces } = this.#options.statements
    const locked = await tx.query(spaces.tryLock, bankParameters(bank))
    if (locked.length > 0) await tx.query(spaces.drop, bankParameters(bank))
  }

  async #attach (bank: BankKey, values: string[][], now: number): Promise<AttachedRow> {
    const { executor, statements, nextShard } = this.#options
    const { model, dimensions } = await this.#spaces.adopt(bank)
    return await retrySerializationFailures(async () => await executor.transaction(async (tx) => {
      // The shared lock excludes the removal of the whole bank, which would leave these vectors behind.
      await tx.query(statements.locks.shareBank, bankParameters(bank))
      const [row] = await tx.query<AttachedRow>(statements.vectors.attach, [
        ...bankParameters(bank), model, dimensions, nextShard(), now, ...values,
      ])
      return row!
    }))
  }
}

function toLateVectors ({ memoryId, fingerprint, passages }: NewMemory): LateVectors[] {
  const vectors = passages.flatMap(({ vector }) => vector ?? [])
  return vectors.length === 0 ? [] : [{ memoryId, fingerprint, vectors }]
}
