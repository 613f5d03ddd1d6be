import { normalForm } from '../text/normal-form.js'
import { codePointsUpTo } from '../validation/code-points.js'
import type { BankKey } from '../identity/context.js'
import type { FieldError } from '../errors/service-error.js'
import type { Metadata } from '../stores/vector-store.js'
import type { ContentChecks } from './bank.js'

/** More keys than fit in the largest size of metadata that can be configured. */
const MAX_KEYS = 10_000
/** More characters of all keys than the largest size of metadata that can be configured, four times. */
const MAX_KEY_CHARACTERS = 262_144
/**
 * Maximum bytes of tenant, bank and document together: PostgreSQL limits the rows of an index to 2704 bytes, and one
 * index has these three and 80 bytes of other columns. It affects only tenants of more than 256 bytes.
 */
const MAX_DOCUMENT_KEY_BYTES = 2560
/** Cached by the list of the settings, which many items share. */
const blockedSets = new WeakMap<readonly string[], ReadonlySet<string>>()

/** Equal for keys that differ in case, or in the normalization of Unicode, which no reader can see. */
function comparable (key: string): string {
  return normalForm(normalForm(key, 'NFC').toLowerCase(), 'NFC')
}

function blockedKeys (list: readonly string[]): ReadonlySet<string> {
  let set = blockedSets.get(list)
  if (set === undefined) blockedSets.set(list, set = new Set(list.map(comparable)))
  return set
}

/** @returns the problem of the trimmed content; undefined when it is valid */
export function checkContent (content: string, { maxCharacters, maxBytes }: ContentChecks): string | undefined {
  if (content === '') return 'must not be empty'
  // Characters are code points: counting them is only needed where the cheaper code units are too many.
  if (content.length > maxCharacters && codePointsUpTo(content, maxCharacters) > maxCharacters) {
    return `must not be longer than ${maxCharacters} characters`
  }
  if (maxBytes !== undefined && Buffer.byteLength(content) > maxBytes) {
    return `must not be larger than ${maxBytes} bytes`
  }
  return checkText(content)
}

/** Checks that every store can keep the text: PostgreSQL cannot store NUL, and a lone surrogate has no UTF-8. */
export function checkText (text: string): string | undefined {
  if (text.includes('\u0000')) return 'must not contain the character U+0000'
  if (!text.isWellFormed()) return 'must be well-formed Unicode'
  return undefined
}

/** Checks that every store can keep the document of a memory of this bank. */
export function checkDocumentId (documentId: string, { tenantId, bankId }: BankKey): string | undefined {
  const tenant = tenantId ?? ''
  // A code unit has at most three bytes, so the bytes of most are not counted.
  const isLong = (tenant.length + bankId.length + documentId.length) * 3 > MAX_DOCUMENT_KEY_BYTES
  if (isLong && Buffer.byteLength(tenant + bankId + documentId) > MAX_DOCUMENT_KEY_BYTES) {
    return 'must not be larger, together with the names of the tenant and the bank, than ' +
      `${MAX_DOCUMENT_KEY_BYTES} bytes`
  }
  return checkText(documentId)
}

/** What is left of metadata, and what is wrong with it. */
interface ScreenedMetadata {
  /** The metadata to store. */
  readonly metadata: Metadata
  /** The removed keys as `metadata.<key>`. */
  readonly redactions: readonly string[]
  readonly errors: readonly FieldError[]
}

/** Shared by all items without metadata, so that an import of many holds fewer objects. */
const NO_METADATA: ScreenedMetadata = Object.freeze({
  metadata: Object.freeze({}), redactions: Object.freeze([]), errors: Object.freeze([]),
})

/**
 * Removes blocked keys, compared without regard to case and normalization, then checks the rest.
 * @param field the key of a field of the memory that is kept in its metadata: neither blocked nor counted in its size
 */
export function screenMetadata (
  metadata: Metadata, { blockedMetadataKeys, maxMetadataBytes }: ContentChecks, field?: string,
): ScreenedMetadata {
  const count = Object.keys(metadata).length
  if (count === 0) return NO_METADATA
  const blocked = blockedKeys(blockedMetadataKeys)
  if (count > MAX_KEYS) {
    const errors = [{ field: 'metadata', message: `must not have more than ${MAX_KEYS} keys` }]
    return { metadata: {}, redactions: [], errors }
  }
  const redactions: string[] = []
  const errors: FieldError[] = []
  const tooLarge = { field: 'metadata', message: `must not be larger than ${maxMetadataBytes} bytes as JSON` }
  // Comparing keys takes time, and so long ones cannot all be blocked.
  const keyCharacters = Object.keys(metadata).reduce((sum, { length }) => sum + length, 0)
  if (keyCharacters > MAX_KEY_CHARACTERS) return { metadata: {}, redactions: [], errors: [tooLarge] }
  let characters = 0
  const kept = Object.entries(metadata).filter(([key, value]) => {
    if (key === field) return true
    if (blocked.has(comparable(key))) {
      redactions.push(`metadata.${key}`)
      return false
    }
    const problem = checkText(key) ?? (typeof value === 'string' ? checkText(value) : undefined)
    if (problem !== undefined) errors.push({ field: 'metadata', message: problem })
    characters += key.length + (typeof value === 'string' ? value.length : 0)
    return true
  })
  const result = Object.fromEntries(kept)
  const counted = field === undefined ? result : Object.fromEntries(kept.filter(([key]) => key !== field))
  // A character has at least one byte.
  if (characters > maxMetadataBytes || Buffer.byteLength(JSON.stringify(counted)) > maxMetadataBytes) {
    errors.push(tooLarge)
  }
  return { metadata: result, redactions, errors }
}
