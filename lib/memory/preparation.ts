import { mapGivingWay } from '../concurrency/event-loop.js'
import { invalidRequest, type FieldError } from '../errors/service-error.js'
import type { Trust } from '../identity/trust.js'
import { checkContent, checkDocumentId, checkText, screenMetadata } from '../policy/barriers.js'
import { optionalValues, type Retained } from '../stores/memory-fields.js'
import { speakerProblem, statedSpeaker, trimSpeaker } from '../stores/speaker.js'
import type { Memory, Metadata } from '../stores/vector-store.js'
import { TokenCount } from '../text/tokens.js'
import type { OpenBank } from './file-settings.js'
import { inspect } from './inspection.js'
import { instantField } from './records.js'
import type { RetainItem } from './schemas.js'
import type { Mutable } from '../validation/members.js'

/** An item whose fields passed the cheap checks. Expensive work follows after its admission. */
export interface CheckedItem extends Pick<Memory, 'text' | Retained> {
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
  item: RetainItem, { key, settings: { contentChecks } }: Pick<OpenBank, 'key' | 'settings'>, at: string,
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
  check(textField, checkContent(text, contentChecks))
  // Tags are a set, so they are stored sorted and without duplicates.
  const tags = item.tags === undefined ? NO_TAGS : [...new Set(item.tags)].sort()
  for (const tag of tags) check('tags', checkText(tag) ?? (tag.trim() === '' ? 'must not be blank' : undefined))
  if (item.document_id === undefined && item.replace_document === true) check('replace_document', 'needs document_id')
  const checks: Partial<Record<string, (text: string) => string | undefined>> = {
    document_id: (id) => checkDocumentId(id, key),
    speaker: (speaker) => speakerProblem(speaker) ?? conflict(speaker, item),
  }
  const optional = optionalValues(({ column, kind }) => {
    const given = item[column]
    if (given === undefined) return null
    if (kind === 'instant') return instantField(`${at}${column}`, given)
    const text = column === 'speaker' ? trimSpeaker(given) : given
    check(column, checkText(text) ?? checks[column]?.(text))
    return text
  })
  const { metadata: screened, redactions, errors: wrong } = screenMetadata(
    item.metadata ?? {}, contentChecks, optional.speaker === null ? undefined : 'speaker',
  )
  for (const { field, message } of wrong) check(field, message)
  if (errors.length > 0) throw invalidRequest(errors)
  const metadata = withSpeaker(screened, optional.speaker)
  return { text, tags, metadata, ...optional, speaker: optional.speaker ?? statedSpeaker(metadata), redactions }
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

function toMemory ({ item, memoryId, retainedAt, trust }: IdentifiedItem): Mutable<Memory> {
  const { redactions: _redactions, ...values } = item
  return { memoryId, retainedAt, trust, tokens: TokenCount.of(item.text), ...values }
}
