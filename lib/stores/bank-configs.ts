import type { BankKey } from '../identity/context.js'

/** The configuration of one bank as its admins have set it. */
export interface BankConfig {
  /** Rises with every change in the store, whatever the bank; no two changes share one. */
  revision: number
  /** What was set, as JSON; null when the bank's own configuration was taken back. */
  document: string | null
  /** Milliseconds since the epoch. */
  updatedAt: number
  /** The principal who did it; null for an anonymous caller. */
  updatedBy: string | null
}

/** A change of a bank's configuration. */
export interface BankConfigChange extends Omit<BankConfig, 'revision'> {
  /**
   * The revision that the change was made on, 0 for a bank without a configuration of its own. When another one is in
   * force, nothing is changed. Absent: the change is made on whatever is in force.
   */
  expected?: number
}

/** Whether a change was made; with the revision that is in force afterwards, 0 when the bank has none. */
export interface BankConfigOutcome {
  changed: boolean
  revision: number
}

/** Banks whose configuration has changed since a revision. */
export interface BankConfigChanges {
  /** The newest revision of the store, to ask on from; 0 when nothing was ever set. */
  revision: number
  /**
   * Undefined when too much has changed to be listed, or the revision is too old to be known, or is yet to come: after
   * a restore.
   */
  banks: BankKey[] | undefined
}

/** Earlier configurations that are kept of each bank, the newest ones. */
export const BANK_CONFIG_HISTORY = 100

/** Banks that are listed at most by `changedSince`. */
export const BANK_CONFIG_CHANGES = 1000

/** How long a change is known to `changedSince` at the least, in milliseconds. */
export const BANK_CONFIG_CHANGE_LIFETIME_MS = 86_400_000

/** Keeps the configuration of banks beside their memories; `(tenantId, bankId)` is the identity of a bank here too. */
export interface BankConfigStore {
  /** Whether other processes may change what this one reads. */
  readonly isShared: boolean
  /** @returns what is set, in no particular order; banks without a configuration of their own are left out */
  read (banks: readonly BankKey[]): Promise<Array<{ bank: BankKey, config: BankConfig }>>
  /**
   * Sets (or, with a null document, takes back) the configuration of a bank and adds it to the bank's history, in one
   * transaction.
   */
  write (bank: BankKey, change: BankConfigChange): Promise<BankConfigOutcome>
  /** Newest first, at most BANK_CONFIG_HISTORY; the one in force is the first, unless it was taken back. */
  history (bank: BankKey): Promise<BankConfig[]>
  /** @param revision an earlier answer's; -1 asks for the newest revision alone */
  changedSince (revision: number): Promise<BankConfigChanges>
}
