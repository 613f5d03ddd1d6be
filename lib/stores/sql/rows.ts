import { bankKeyString, bankOfKey, type BankKey } from '../../identity/context.js'
import { TokenCount } from '../../text/tokens.js'
import { readTrust } from '../../identity/trust.js'
import type { Memory, Metadata } from '../vector-store.js'

/** A row with the columns of READ_COLUMNS. */
export interface MemoryRow {
  memory_id: string
  text: string
  tags: string[]
  metadata: string
  occurred_at: number | null
  retained_at: number
  expires_at: number | null
  document_id: string | null
  source: string | null
  tokens: number
  trust: string
}

export function toMemory (row: MemoryRow): Memory {
  return {
    memoryId: row.memory_id,
    text: row.text,
    tags: row.tags,
    metadata: JSON.parse(row.metadata) as Metadata,
    occurredAt: row.occurred_at,
    retainedAt: row.retained_at,
    expiresAt: row.expires_at,
    documentId: row.document_id,
    source: row.source,
    tokens: TokenCount.known(row.tokens),
    trust: readTrust(row.trust),
  }
}

/** The first parameter of every statement on a bank. */
export function bankParameters (bank: BankKey): [bankKey: string] {
  return [bankKeyString(bank)]
}

/** A row with the key of its bank. */
export interface BankRow {
  bank_key: string
}

export function toBankKey (row: BankRow): BankKey {
  return bankOfKey(row.bank_key)
}
