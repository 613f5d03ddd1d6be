import { invalidRequest, type FieldError } from '../errors/service-error.js'
import { checkContent, checkText, screenMetadata } from '../policy/barriers.js'
import type { ContentChecks } from '../policy/bank.js'
import type { Metadata } from '../stores/vector-store.js'
import { instantField } from './records.js'
import type { RetainItem } from './schemas.js'

/** An item that passed the cheap checks of its fields. Expensive work on it follows after it is admitted. */
export interface CheckedItem {
  text: string
  /** Sorted, each once. */
  tags: string[]
  metadata: Metadata
  occurredAt: number | null
  expiresAt: number | null
  documentId: string | null
  source: string | null
  redactions: string[]
}

/**
 * Checks one item against the bank's policy.
 * @param at the prefix of field names in errors, for instance `items[3].`
 * @param textField the caller's name of the text field
 * @throws ServiceError invalid_request that names every wrong field
 */
export function checkItem (item: RetainItem, checks: ContentChecks, at: string, textField = 'content'): CheckedItem {
  const errors: FieldError[] = []
  const check = (field: string, problem: string | undefined) => {
    if (problem !== undefined) errors.push({ field: `${at}${field}`, message: problem })
  }
  const text = item.content.trim()
  check(textField, checkContent(text, checks))
  // The same set of tags is the same set in any order, so it is kept once and sorted.
  const tags = item.tags === undefined ? [] : [...new Set(item.tags)].sort()
  for (const tag of tags) check('tags', checkText(tag) ?? (tag.trim() === '' ? 'must not be blank' : undefined))
  if (item.document_id !== undefined) check('document_id', checkText(item.document_id))
  if (item.source !== undefined) check('source', checkText(item.source))
  const { metadata, redactions, errors: wrong } = screenMetadata(item.metadata ?? {}, checks)
  for (const { field, message } of wrong) check(field, message)
  const occurredAt = item.occurred_at === undefined ? null : instantField(`${at}occurred_at`, item.occurred_at)
  const expiresAt = item.expires_at === undefined ? null : instantField(`${at}expires_at`, item.expires_at)
  if (errors.length > 0) throw invalidRequest(errors)
  return { text, tags, metadata, occurredAt, expiresAt, documentId: item.document_id ?? null, source: item.source ?? null, redactions }
}
