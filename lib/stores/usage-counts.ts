import type { BankKey } from '../identity/context.js'

/** An amount that a bank uses on a UTC day. */
export interface UsageEntry {
  bank: BankKey
  /** Days since the epoch. */
  day: number
  /** Name of the quantity counted. */
  counter: string
  /** An integer; negative only to correct a count. */
  amount: number
}

export interface UsageReservation extends UsageEntry {
  /** Maximum of the count. */
  limit: number
}

export type UsageOutcome =
  | { granted: true }
  /** Nothing was counted. `usedUp` is the index of an entry that would exceed its limit. */
  | { granted: false, usedUp: number }
