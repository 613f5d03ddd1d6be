import { mapGivingWay } from '../concurrency/event-loop.js'
import { invalidRequest, type FieldError } from '../errors/service-error.js'
import type { Trust } from '../identity/trust.js'
import { checkContent, checkDocumentId, checkText, screenMetadata } from '../policy/barriers.js'
import { speakerOf, speakerProblem, trimSpeaker } from '../stores/speaker.js'
import type { Memory, Metadata } from '../stores/vector-store.js'
import { TokenCount } from '../text/tokens.js'
import type { OpenBank } from './file-settings.js'
import { inspect } from './inspection.js'
import { instantField } from './records.js'
import type { RetainItem } from './schemas.js'
import type { Mutable } from '../validation/members.js'

/** An item whose fields passed the cheap checks. Expensive work follows after its admission. */
export interface CheckedItem {
  text: string
  /** Sorted, without duplicates. */
  tags: readonly string[]
  metadata: Metadata
  occurredAt: number | null
  expiresAt: number | null
  documentId: string | null
  source: string | null
  redactions: readonly string[]
}

/** Shared by all items without tags, so that an import of many holds fewer objects. */
const NO_TAGS: readonly string[] = Object.freeze([])

/**
 * Checks one item against the bank's policy.
 * @param at the prefix of field names in errors, for instance `items[3].`
 * @param textField the caller's name of the text field
 * @throws ServiceError invalid_request that names every invalid field
 */
export function checkItem (
  item: RetainItem, { key, settings: { contentChecks: checks } }: Pick<OpenBank, 'key' | 'settings'>, at: string,
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
  check(textField, checkContent(text, checks))
  // Tags are a set, so they are stored sorted and without duplicates.
  const tags = item.tags === undefined ? NO_TAGS : [...new Set(item.tags)].sort()
  for (const tag of tags) check('tags', checkText(tag) ?? (tag.trim() === '' ? 'must not be blank' : undefined))
  if (item.document_id !== undefined) check('document_id', checkDocumentId(item.document_id, key))
  else if (item.replace_document === true) check('replace_document', 'needs document_id')
  if (item.source !== undefined) check('source', checkText(item.source))
  const speaker = item.speaker === undefined ? undefined : trimSpeaker(item.speaker)
  if (speaker !== undefined) check('speaker', checkText(speaker) ?? speakerProblem(speaker) ?? conflict(speaker, item))
  const { metadata, redactions, errors: wrong } = screenMetadata(item.metadata ?? {}, checks, speaker && 'speaker')
  for (const { field, message } of wrong) check(field, message)
  const occurredAt = item.occurred_at === undefined ? null : instantField(`${at}occurred_at`, item.occurred_at)
  const expiresAt = item.expires_at === undefined ? null : instantField(`${at}expires_at`, item.expires_at)
  if (errors.length > 0) throw invalidRequest(errors)
  const { document_id: documentId = null, source = null } = item
  return { text, tags, metadata: withSpeaker(metadata, speaker), occurredAt, expiresAt, documentId, source, redactions }
}

function conflict (speaker: string, { metadata }: RetainItem): string | undefined {
  const stated = metadata?.['speaker'] ?? undefined
  if (stated === undefined || (typeof stated === 'string' && trimSpeaker(stated) === speaker)) return undefined
  return 'must be equal to metadata.speaker, or metadata.speaker absent'
}

/** The metadata as it is, when it states this speaker, so that the import of an export changes nothing. */
function withSpeaker (metadata: Metadata, speaker: string | undefined): Metadata {
  return speaker === undefined || speakerOf({ metadata }) === speaker ? metadata : { ...metadata, speaker }
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

/** Written without a spread, which takes several times as long. */
function toMemory ({ item, memoryId, retainedAt, trust }: IdentifiedItem): Mutable<Memory> {
  const { text, tags, metadata, occurredAt, expiresAt, documentId, source } = item
  const tokens = TokenCount.of(text)
  return { memoryId, retainedAt, trust, text, tags, metadata, occurredAt, expiresAt, documentId, source, tokens }
}
