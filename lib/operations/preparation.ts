import { hash } from 'node:crypto'
import type { BankKey } from '../access/context.js'
import type { Trust } from '../access/trust.js'
import { codePointsUpTo } from '../base/code-points.js'
import { mapGivingWay } from '../base/event-loop.js'
import type { Mutable } from '../base/members.js'
import { invalidRequest, type FieldError } from '../base/service-error.js'
import type { BankSettings } from '../config/schema.js'
import {
  type Life, type MessageFields, newLife, optionalValues, TEXTS, type Retained,
} from '../stores/memory-fields.js'
import { speakerProblem, statedSpeaker, trimSpeaker } from '../stores/speaker.js'
import type { Memory, Metadata } from '../stores/vector-store.js'
import { normalForm } from '../text/normal-form.js'
import { suspicionsIn } from '../text/suspicion.js'
import { TokenCount } from '../text/tokens.js'
import type { OpenBank } from './bank-directory.js'
import { instantField } from './records.js'
import type { RetainItem } from './schemas.js'

/** An item whose fields passed the cheap checks. Expensive work follows after its admission. */
export interface CheckedItem extends Pick<Memory, 'text' | 'message' | Retained> {
  redactions: readonly string[]
}

const MAX_KEY_BYTES = 1024
/** Shared by all items without tags, so that an import of many holds fewer objects. */
const NO_TAGS: readonly string[] = Object.freeze([])
const NO_IDS: readonly string[] = NO_TAGS

/** An item to check. */
interface GivenItem extends RetainItem {
  /** Only of a conversation and of an import. */
  message?: MessageFields
}

/**
 * Checks one item against the bank's policy.
 * @param at the prefix of field names in errors, for instance `items[3].`
 * @param textField the caller's name of the text field
 * @throws ServiceError invalid_request that names every invalid field
 */
export function checkItem (
  item: GivenItem, { key, settings }: Pick<OpenBank, 'key' | 'settings'>, at: string,
  textField = 'content',
): CheckedItem {
  const errors: FieldError[] = []
  // Any number of tags or keys may be invalid; the first problem of a field is enough.
  const check = (name: string, problem: string | undefined) => {
    const field = `${at}${name}`
    if (problem === undefined || errors.some((error) => error.field === field)) return
    errors.push({ field, message: problem })
  }
  const text = item.content.trim()
  check(textField, checkContent(text, settings))
  // Tags are a set, so they are stored sorted and without duplicates.
  const tags = item.tags === undefined ? NO_TAGS : [...new Set(item.tags)].sort()
  for (const tag of tags) check('tags', checkText(tag) ?? (tag.trim() === '' ? 'must not be blank' : undefined))
  if (item.document_id === undefined && item.replace_document === true) check('replace_document', 'needs document_id')
  const { message = null } = item
  if (message !== null) check('message', checkMessage(message, item))
  const checks: Partial<Record<string, (text: string) => string | undefined>> = {
    document_id: (id) => checkDocumentId(id, key),
    speaker: (speaker) => speakerProblem(speaker) ?? conflict(speaker, item),
    // In an index, where a row has at most 2704 bytes.
    key: (key) => Buffer.byteLength(key) > MAX_KEY_BYTES ? `must not be larger than ${MAX_KEY_BYTES} bytes` : undefined,
  }
  const optional = optionalValues(({ column, kind }) => {
    const given = item[column]
    if (given === undefined) return null
    if (kind === 'instant') return instantField(`${at}${column}`, given)
    const text = column === 'speaker' ? trimSpeaker(given) : given
    check(column, checkText(text) ?? checks[column]?.(text))
    return text
  })
  const { validFrom, validUntil } = optional
  // An export may have one that ends where it begins: what was superseded before its time.
  const isShort = validFrom !== null && validUntil !== null && validUntil <= validFrom
  if (isShort && (textField === 'content' || validUntil < validFrom)) check('valid_until', 'must be after valid_from')
  const supersedes = item.supersedes === undefined
    ? NO_IDS
    : [...new Set(item.supersedes.map((id) => id.toLowerCase()))].sort()
  const { metadata: screened, redactions, errors: wrong } = screenMetadata(
    item.metadata ?? {}, settings, optional.speaker === null ? undefined : 'speaker',
  )
  for (const { field, message } of wrong) check(field, message)
  if (errors.length > 0) throw invalidRequest(errors)
  const metadata = withSpeaker(screened, optional.speaker)
  const speaker = optional.speaker ?? statedSpeaker(metadata)
  return { text, tags, metadata, ...optional, speaker, supersedes, message, redactions }
}

function checkMessage (
  { role, name = role, id = role, digest }: MessageFields, { document_id: document }: RetainItem,
): string | undefined {
  if (document === undefined) return 'needs document_id'
  for (const text of [role, name]) {
    const problem = speakerProblem(text)
    if (problem !== undefined) return problem
  }
  return checkText(role) ?? checkText(name) ?? checkText(id) ?? checkText(digest)
}

function conflict (speaker: string, { metadata }: RetainItem): string | undefined {
  const stated = metadata?.['speaker'] ?? undefined
  if (stated === undefined || (typeof stated === 'string' && trimSpeaker(stated) === speaker)) return undefined
  return 'must be equal to metadata.speaker, or metadata.speaker absent'
}

/** The metadata as it is, when it states this speaker, so that the import of an export changes nothing. */
function withSpeaker (metadata: Metadata, speaker: string | null): Metadata {
  return speaker === null || statedSpeaker(metadata) === speaker ? metadata : { ...metadata, speaker }
}

/** A memory that is ready to be indexed. */
export interface PreparedMemory {
  memory: Memory
  fingerprint: string
  redactions: readonly string[]
}

/** A checked item with the properties that the service assigns to its memory. */
export interface IdentifiedItem {
  item: CheckedItem
  memoryId: string
  retainedAt: number
  /** The trust of its writer. */
  trust: Trust
  /** The principal of its writer. */
  changedBy: string | null
  /** Of an import: what else is told of its life. */
  life?: Partial<Life>
}

/**
 * Makes memories from checked items, and marks those as suspect whose texts look like an attack.
 * @param signal ends the work with its reason
 */
export async function prepare (items: readonly IdentifiedItem[], signal?: AbortSignal): Promise<PreparedMemory[]> {
  return await mapGivingWay(items, (identified) => {
    signal?.throwIfAborted()
    const memory = toMemory(identified)
    const { isSuspect, fingerprint } = inspect(memory)
    if (isSuspect) memory.trust = 'suspect'
    return { memory, fingerprint, redactions: identified.item.redactions }
  })
}

function toMemory ({ item, memoryId, retainedAt, trust, changedBy, life }: IdentifiedItem): Mutable<Memory> {
  const { redactions: _redactions, ...values } = item
  return {
    memoryId,
    retainedAt,
    trust,
    tokens: TokenCount.of(item.text),
    ...newLife({ changedAt: retainedAt, changedBy }),
    ...life,
    ...values,
  }
}

/** The parts of a memory that are inspected. */
type InspectedMemory = Pick<
  Memory,
  typeof LABELS[number] | 'text' | 'tags' | 'metadata' | 'occurredAt' | 'validFrom' | 'validUntil' | 'message' |
  'kind' | 'derivedFrom'
>

/** What the texts of a memory show. */
interface Inspection {
  /** Whether one of them looks like an attack on a model. */
  isSuspect: boolean
  /** Of the content, see `fingerprintOf`. */
  fingerprint: string
}

/** Inspects a memory. */
export function inspect (memory: InspectedMemory): Inspection {
  const isSuspect = suspicionIn(memory.text, labelsOf(memory))
  return { isSuspect, fingerprint: fingerprintOf(memory) }
}

function suspicionIn (text: string, labels: string): boolean {
  if (suspicionsIn(text).length > 0) return true
  return labels !== '' && suspicionsIn(labels).length > 0
}

/** The speaker is in the metadata too. */
const LABELS = TEXTS.filter((name) => name !== 'text' && name !== 'speaker' && name !== 'changedBy')
/** White space other than a single space. */
const SPACES = /[^\S ]\s*| \s+/gu

/**
 * All texts of a memory except its content, because a model may see them too. None is at the beginning of a line, where
 * a tag like `system:linux` would look like a speaker's turn. Empty for a memory without any.
 */
function labelsOf (memory: InspectedMemory): string {
  const { tags, metadata, message } = memory
  const labels = [
    ...LABELS.flatMap((name) => memory[name] ?? []), ...tags, message?.role ?? [], message?.id ?? [],
    ...Object.entries(metadata).flat().filter((part) => typeof part === 'string'),
  ]
  return labels.length === 0 ? '' : ['', ...labels].join(' , ')
}

/** The roles of messages that have instructions for a model instead of being a turn of the conversation. */
const INSTRUCTIONS = /^(?:system|developer)$/i

export function isInstruction ({ role }: Pick<MessageFields, 'role'>): boolean {
  return INSTRUCTIONS.test(role)
}

/**
 * Identifies exact repeats: SHA-256 in hex of the content after NFC, trimming and collapsing of white space, and of the
 * set of tags, the document and the time; where they are told, of the key and the validity too. A message is what its
 * id says, else what stands in its place of the conversation; instructions stand in it once. So it equals no other
 * memory of the same text. A fact repeats no memory, only a fact that was derived from the same.
 */
export function fingerprintOf ({
  text, tags, documentId, occurredAt, key, validFrom, validUntil, message, kind, derivedFrom,
}: Pick<
  Memory, 'text' | 'tags' | 'documentId' | 'occurredAt' | 'key' | 'validFrom' | 'validUntil' | 'message'
> & Partial<Pick<Memory, 'kind' | 'derivedFrom'>>): string {
  if (message !== null) {
    const { id, digest, position } = message
    const place = id !== undefined ? ['id', id] : isInstruction(message) ? ['text', digest] : [position, digest]
    return hash('sha256', JSON.stringify([documentId, 'message', ...place]))
  }
  const content = normalForm(text, 'NFC').trim().replace(SPACES, ' ')
  const life = key === null && validFrom === null && validUntil === null ? [] : [key, validFrom, validUntil]
  const derived = kind === 'fact' ? [kind, derivedFrom] : []
  return hash('sha256', JSON.stringify([content, tags, documentId, occurredAt, ...life, ...derived]))
}

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
export function checkContent (
  content: string, { barriers, homeostasis }: Pick<BankSettings, 'barriers' | 'homeostasis'>,
): string | undefined {
  const { max_content_length: maxCharacters } = barriers.validation
  const { retain_max_content_bytes: maxBytes } = homeostasis
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
function checkDocumentId (documentId: string, { tenantId, bankId }: BankKey): string | undefined {
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
  metadata: Metadata, { barriers }: Pick<BankSettings, 'barriers'>, field?: string,
): ScreenedMetadata {
  const count = Object.keys(metadata).length
  if (count === 0) return NO_METADATA
  const { blocked_keys: list, max_metadata_size_bytes: maxBytes } = barriers.metadata
  const blocked = blockedKeys(list)
  if (count > MAX_KEYS) {
    const errors = [{ field: 'metadata', message: `must not have more than ${MAX_KEYS} keys` }]
    return { metadata: {}, redactions: [], errors }
  }
  const redactions: string[] = []
  const errors: FieldError[] = []
  const tooLarge = { field: 'metadata', message: `must not be larger than ${maxBytes} bytes as JSON` }
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
  if (characters > maxBytes || Buffer.byteLength(JSON.stringify(counted)) > maxBytes) {
    errors.push(tooLarge)
  }
  return { metadata: result, redactions, errors }
}
