import type { BankSections } from '../config/bank-sections.js'
import type { BankKey } from '../identity/context.js'

/** A bank as one request finds it: which it is, and what holds for it at that moment. */
export interface ResolvedBank {
  key: BankKey
  settings: BankSections
}
