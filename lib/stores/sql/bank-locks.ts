import { DEFAULT_SCHEMA } from './migrations.js'

/**
 * Statements that take the advisory locks of a bank ($1 tenant, $2 name), which end with the transaction. A statement
 * sees what was there when it began, so a lock comes in one of its own.
 */
export interface BankLocks {
  /** Nobody else has the bank as a whole, or in part by `shareBank`. */
  lockBank: string
  /** Nobody has the bank as a whole. */
  shareBank: string
  /** The right to import into the bank. */
  lockImports: string
}

/**
 * Advisory locks belong to a database and know no schema, so that their keys name it: what is done in one schema waits
 * for nothing in another. The default schema has the keys of versions that named none, so that servers of both exclude
 * each other there.
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
