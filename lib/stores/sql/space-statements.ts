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
