import type { BankKey } from '../access/context.js'
import { DAY_MS } from '../base/days.js'

/** The configuration of a bank as its administrators set it. */
export interface BankConfig {
  /** Increases with every change in the store, across all banks; no two changes share a revision. */
  readonly revision: number
  /**
   * The configuration as JSON; null when the bank's own configuration was removed. It is returned as it was written,
   * because entity tags depend on each character.
   */
  readonly document: string | null
  /** Milliseconds since the epoch. */
  readonly updatedAt: number
  /** The principal who made the change; null for an anonymous caller. */
  readonly updatedBy: string | null
}

/** A configuration that replaces whatever is in force. */
export type NewBankConfig = Omit<BankConfig, 'revision'>

/** A change of a bank's configuration. */
export interface BankConfigChange extends NewBankConfig {
  /**
   * The revision on which the change is based, 0 for a bank without a configuration of its own. If another revision is
   * in force, nothing changes. Absent: the change applies to whatever revision is in force.
   */
  readonly expected?: number
}

/** Whether the change was made, and the revision in force afterwards, 0 when the bank has none. */
export interface BankConfigOutcome {
  readonly changed: boolean
  readonly revision: number
}

/** Banks whose configuration has changed since a revision. */
export interface BankConfigChanges {
  /** The newest revision of the store, to pass to the next call; 0 when no configuration was ever set. */
  readonly revision: number
  /**
   * Undefined when there are too many banks to list, or when the given revision is too old to be known, or higher than
   * the newest one, as after a restore.
   */
  readonly banks: readonly BankKey[] | undefined
}

/** A part of the history of a bank's configuration. */
export interface BankConfigPage {
  /** Maximum number of configurations. */
  readonly limit: number
  /** Only those of lower revisions. */
  readonly before?: number | undefined
}

/** Maximum number of configurations in the history of a bank; the newest are kept. */
export const BANK_CONFIG_HISTORY = 100

/** Maximum number of banks that `changedSince` lists. */
export const BANK_CONFIG_CHANGES = 1000

/** Minimum time for which `changedSince` knows a change, in milliseconds. */
export const BANK_CONFIG_CHANGE_LIFETIME_MS = DAY_MS

/** Stores the configuration of banks together with memories; `(tenantId, bankId)` identifies a bank here too. */
export interface BankConfigStore {
  /** Whether other processes may change the configurations that this process reads. */
  readonly isShared: boolean
  /** @returns configurations in no particular order; banks without one of their own are left out */
  read (banks: readonly BankKey[]): Promise<Array<Readonly<{ bank: BankKey, config: BankConfig }>>>
  /**
   * Sets the configuration of a bank, or removes it when the document is null, and adds the change to the bank's
   * history, in one transaction.
   */
  write (bank: BankKey, change: BankConfigChange): Promise<BankConfigOutcome>
  /**
   * A page of the history, newest first; the first of all is the one in force, unless it was removed. No more is read
   * than the page, because each configuration may have 32 KiB.
   */
  history (bank: BankKey, page: BankConfigPage): Promise<BankConfig[]>
  /** @param revision from an earlier result; -1 requests only the newest revision */
  changedSince (revision: number): Promise<BankConfigChanges>
}
