import { DEFAULT_SCHEMA } from './migrations.js'

/**
 * Statements that take the advisory locks of a bank ($1 tenant, $2 name), which end with the transaction. Each lock is
 * a statement of its own, because a statement sees only what was committed before it began.
 */
export interface BankLocks {
  /** Exclusive; conflicts with `lockBank` and `shareBank` of other transactions. */
  lockBank: string
  /** Shared; conflicts with `lockBank` of other transactions. */
  shareBank: string
  /** Exclusive right to import into the bank. */
  lockImports: string
}

/**
 * The keys include the schema, because advisory locks belong to the database: work in one schema must not wait for work
 * in another. The keys of the default schema omit it, as earlier versions did, so that servers of both versions exclude
 * each other.
 * @param schema quoted
 */
export function makeBankLocks (schema: string): BankLocks {
  const suffix = schema === `"${DEFAULT_SCHEMA}"` ? '' : ` || chr(1) || '${schema}'`
  const key = (what: string) => `hashtextextended('memory-gateway ${what} ' || $1 || chr(1) || $2${suffix}, 0)`
  return {
    lockBank: `select pg_advisory_xact_lock(${key('context')})::text`,
    shareBank: `select pg_advisory_xact_lock_shared(${key('context')})::text`,
    lockImports: `select pg_advisory_xact_lock(${key('import')})::text`,
  }
}
