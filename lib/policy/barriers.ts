import { codePointsUpTo } from '../validation/code-points.js'
import type { FieldError } from '../errors/service-error.js'
import type { Metadata } from '../stores/vector-store.js'
import type { BankSections } from '../config/bank-sections.js'

/** More keys than fit in the largest size of metadata that can be configured. */
const MAX_KEYS = 10_000
/** Cached by the list of the settings, which many items share. */
const blockedSets = new WeakMap<readonly string[], ReadonlySet<string>>()

function blockedKeys (list: readonly string[]): ReadonlySet<string> {
  let set = blockedSets.get(list)
  if (set === undefined) blockedSets.set(list, set = new Set(list.map((key) => key.toLowerCase())))
  return set
}

/** @returns the problem of the trimmed content; undefined when it is valid */
export function checkContent (content: string, { barriers, homeostasis }: BankSections): string | undefined {
  if (content === '') return 'must not be empty'
  const maxLength = barriers.validation.max_content_length
  // The limit is in code points. They are counted only when the code units, whose number is known, exceed it.
  if (content.length > maxLength && codePointsUpTo(content, maxLength) > maxLength) return `must not be longer than ${maxLength} characters`
  const maxBytes = homeostasis.retain_max_content_bytes
  if (maxBytes !== undefined && Buffer.byteLength(content) > maxBytes) return `must not be larger than ${maxBytes} bytes`
  return checkText(content)
}

/** Checks that every store can keep the text: PostgreSQL cannot store NUL, and a lone surrogate has no UTF-8. */
export function checkText (text: string): string | undefined {
  if (text.includes('\u0000')) return 'must not contain the character U+0000'
  if (!text.isWellFormed()) return 'must be well-formed Unicode'
  return undefined
}

/**
 * Removes blocked keys, compared without regard to case, then checks the rest.
 * @returns the metadata to store, the removed keys as `metadata.<key>`, and what is wrong with it
 */
export function screenMetadata (metadata: Metadata, { barriers }: BankSections): { metadata: Metadata, redactions: string[], errors: FieldError[] } {
  const count = Object.keys(metadata).length
  if (count === 0) return { metadata: {}, redactions: [], errors: [] }
  const blocked = blockedKeys(barriers.metadata.blocked_keys)
  if (count > MAX_KEYS) return { metadata: {}, redactions: [], errors: [{ field: 'metadata', message: `must not have more than ${MAX_KEYS} keys` }] }
  const redactions: string[] = []
  const errors: FieldError[] = []
  const kept = Object.entries(metadata).filter(([key, value]) => {
    if (blocked.has(key.toLowerCase())) {
      redactions.push(`metadata.${key}`)
      return false
    }
    const problem = checkText(key) ?? (typeof value === 'string' ? checkText(value) : undefined)
    if (problem !== undefined) errors.push({ field: 'metadata', message: problem })
    return true
  })
  const result = Object.fromEntries(kept)
  const maxBytes = barriers.metadata.max_metadata_size_bytes
  if (Buffer.byteLength(JSON.stringify(result)) > maxBytes) errors.push({ field: 'metadata', message: `must not be larger than ${maxBytes} bytes as JSON` })
  return { metadata: result, redactions, errors }
}
