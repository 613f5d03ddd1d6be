import type { BankKey } from '../identity/context.js'

/** An amount of what a bank uses on a UTC day. */
export interface UsageEntry {
  bank: BankKey
  /** Days since the epoch. */
  day: number
  /** What is counted. */
  counter: string
  /** Whole; negative only to correct a count. */
  amount: number
}

export interface UsageReservation extends UsageEntry {
  /** What the count may come to. */
  limit: number
}

export type UsageOutcome =
  | { granted: true }
  /** Nothing was counted. `usedUp` is the index of an entry that finds no room. */
  | { granted: false, usedUp: number }
