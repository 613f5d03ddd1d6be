import { hash } from 'node:crypto'
import type { BankSections } from '../config/bank-sections.js'
import { invalidRequest, type FieldError } from '../errors/service-error.js'
import { atOnce, soon, type Steps } from '../concurrency/steps.js'
import { checkContent, checkText, screenMetadata } from '../policy/barriers.js'
import type { Memory } from '../stores/vector-store.js'
import { suspicionSteps } from '../text/suspicion.js'
import { TokenCount } from '../text/tokens.js'
import type { Trust } from '../identity/trust.js'
import { instantField } from './records.js'
import type { RetainItem } from './schemas.js'
import { normalForm } from '../text/normal-form.js'
import { AT_ONCE, partsFor } from '../text/parts.js'

/** A memory that has passed every check, on its way to the index. */
export interface PreparedMemory {
  memory: Memory
  fingerprint: string
  redactions: string[]
}

/** What is decided about a memory, not sent with it. */
interface Identity {
  memoryId: string
  retainedAt: number
  /** Of its writer. */
  trust: Trust
}

/**
 * Checks one item against the bank's policy and makes the memory of it.
 * @param at what stands before a field's name in an error, for instance `items[3].`
 * @param textField what the caller calls the text
 * @param caller as in TurnBudget.next
 * @throws ServiceError invalid_request that names every wrong field
 */
export async function prepare (item: RetainItem, { memoryId, retainedAt, trust }: Identity, policy: BankSections, at: string, caller: string, textField = 'content'): Promise<PreparedMemory> {
  const errors: FieldError[] = []
  const check = (field: string, problem: string | undefined) => {
    if (problem !== undefined) errors.push({ field: `${at}${field}`, message: problem })
  }
  const text = item.content.trim()
  check(textField, checkContent(text, policy))
  // The same set of tags is the same set in any order, so it is kept once and sorted.
  const tags = item.tags === undefined ? [] : [...new Set(item.tags)].sort()
  for (const tag of tags) check('tags', checkText(tag) ?? (tag.trim() === '' ? 'must not be blank' : undefined))
  if (item.document_id !== undefined) check('document_id', checkText(item.document_id))
  if (item.source !== undefined) check('source', checkText(item.source))
  const screened = screenMetadata(item.metadata ?? {}, policy)
  for (const { field, message } of screened.errors) check(field, message)
  const occurredAt = item.occurred_at === undefined ? null : instantField(`${at}occurred_at`, item.occurred_at)
  const expiresAt = item.expires_at === undefined ? null : instantField(`${at}expires_at`, item.expires_at)
  if (errors.length > 0) throw invalidRequest(errors)
  // Every member by its name: an object that begins as a copy of another takes several times as long.
  const memory: Memory = {
    memoryId,
    retainedAt,
    trust,
    text,
    tags,
    metadata: screened.metadata,
    occurredAt,
    expiresAt,
    documentId: item.document_id ?? null,
    source: item.source ?? null,
    tokens: TokenCount.of(text),
  }
  const labels = labelsOf(memory)
  if (await soon(suspicionIn(text, labels), caller)) memory.trust = 'suspect'
  return { memory, fingerprint: await soon(fingerprintSteps(memory), caller), redactions: screened.redactions }
}

function * suspicionIn (text: string, labels: string): Steps<boolean> {
  return (yield * suspicionSteps(text)).length > 0 || (labels !== NO_LABELS && (yield * suspicionSteps(labels)).length > 0)
}

/** Of a memory that has none. */
const NO_LABELS = ' ,  , '
/** White space that is not one blank. */
const SPACES = /[^\S ]\s*| \s+/gu

/** Every text of a memory but its own; it comes to a model as well. None begins a line, where a tag like `system:linux` would look like a turn. */
function labelsOf ({ tags, metadata, documentId, source }: Memory): string {
  if (tags.length === 0 && documentId === null && source === null && Object.keys(metadata).length === 0) return NO_LABELS
  return ['', documentId ?? '', source ?? '', ...tags, ...Object.entries(metadata).flat().filter((part) => typeof part === 'string')].join(' , ')
}

/**
 * What makes a retain an exact repeat: the content after NFC, trimming and single spaces, the set of tags, the document
 * and the time. SHA-256 in hex.
 */
export function fingerprintOf (memory: Memory): string {
  return atOnce(fingerprintSteps(memory))
}

/** fingerprintOf, for texts of any length. */
export function * fingerprintSteps ({ text, tags, documentId, occurredAt }: Pick<Memory, 'text' | 'tags' | 'documentId' | 'occurredAt'>): Steps<string> {
  const content = yield * inParts((yield * inParts(text, toNfc)).trim(), withSingleSpaces)
  return hash('sha256', JSON.stringify([content, tags, documentId, occurredAt]))
}

function toNfc (text: string): string {
  return normalForm(text, 'NFC')
}

function withSingleSpaces (text: string): string {
  return text.replace(SPACES, ' ')
}

function * inParts (text: string, change: (part: string) => string): Steps<string> {
  if (text.length <= AT_ONCE) return change(text)
  let changed = ''
  for (const part of partsFor(text, change)) {
    changed += change(part)
    yield
  }
  return changed
}
