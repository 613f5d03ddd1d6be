export interface AdoptionRow {
  /** Whether the bank has another embedding space, but no vectors. */
  is_free: boolean
  /** Whether the bank has another embedding space. */
  is_other: boolean
}

/** $1 tenant and $2 bank in each; $3 model and $4 dimensions of an embedding space. */
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
  const ofOther = 'v.tenant_id = $1 and v.bank_id = $2 and (v.model, v.dimensions) <> ($3, $4::int)'
  const withoutVectors = `not exists (select from ${schema}.embeddings e where e.tenant_id = $1 and e.bank_id = $2)`
  const lock = `select v.model from ${schema}.embedding_spaces v where v.tenant_id = $1 and v.bank_id = $2 for update`
  return {
    adopt: `with adopted as (
  insert into ${schema}.embedding_spaces as v (tenant_id, bank_id, model, dimensions) values ($1, $2, $3, $4::int)
  on conflict (tenant_id, bank_id) do nothing
)
select o.is_other, o.is_other and ${withoutVectors} as is_free
from (select exists (select from ${schema}.embedding_spaces v where ${ofOther}) as is_other) o`,
    lock,
    // Not an update: the lock of an insert does not see one that leaves the key as it is.
    free: `delete from ${schema}.embedding_spaces v where ${ofOther} and ${withoutVectors}`,
    tryLock: `${lock} skip locked`,
    drop: `delete from ${schema}.embedding_spaces v where v.tenant_id = $1 and v.bank_id = $2 and ${withoutVectors}`,
  }
}
