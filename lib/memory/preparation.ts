import { hash } from 'node:crypto'
import { runSync, runSyncOrInTurns, type Steps } from '../concurrency/steps.js'
import { invalidRequest, type FieldError } from '../errors/service-error.js'
import type { Trust } from '../identity/trust.js'
import { checkContent, checkDocumentId, checkText, screenMetadata } from '../policy/barriers.js'
import type { Memory, Metadata } from '../stores/vector-store.js'
import { normalForm } from '../text/normal-form.js'
import { PART_CHARACTERS, splitForFolding } from '../text/parts.js'
import { suspicionSteps } from '../text/suspicion.js'
import { TokenCount } from '../text/tokens.js'
import type { OpenBank } from './file-settings.js'
import { instantField } from './records.js'
import type { RetainItem } from './schemas.js'
import type { Mutable } from '../validation/members.js'

/** An item whose fields passed the cheap checks. Expensive work follows after its admission. */
export interface CheckedItem {
  text: string
  /** Sorted, without duplicates. */
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
  const tags = item.tags === undefined ? [] : [...new Set(item.tags)].sort()
  for (const tag of tags) check('tags', checkText(tag) ?? (tag.trim() === '' ? 'must not be blank' : undefined))
  if (item.document_id !== undefined) check('document_id', checkDocumentId(item.document_id, key))
  if (item.source !== undefined) check('source', checkText(item.source))
  const { metadata, redactions, errors: wrong } = screenMetadata(item.metadata ?? {}, checks)
  for (const { field, message } of wrong) check(field, message)
  const occurredAt = item.occurred_at === undefined ? null : instantField(`${at}occurred_at`, item.occurred_at)
  const expiresAt = item.expires_at === undefined ? null : instantField(`${at}expires_at`, item.expires_at)
  if (errors.length > 0) throw invalidRequest(errors)
  const { document_id: documentId = null, source = null } = item
  return { text, tags, metadata, occurredAt, expiresAt, documentId, source, redactions }
}

/** A memory that is ready to be indexed. */
export interface PreparedMemory {
  memory: Memory
  fingerprint: string
  redactions: readonly string[]
}

/** The properties that the service assigns to a memory. */
interface Identity {
  memoryId: string
  retainedAt: number
  /** The trust of its writer. */
  trust: Trust
}

/**
 * Makes a memory from a checked item, and marks it as suspect when its text looks like an attack.
 * @param caller as in TurnBudget.next
 */
export async function prepare (
  item: CheckedItem, { memoryId, retainedAt, trust }: Identity, caller: string,
): Promise<PreparedMemory> {
  const { text, tags, metadata, occurredAt, expiresAt, documentId, source, redactions } = item
  const tokens = TokenCount.of(text)
  // Written without a spread, which takes several times as long.
  const memory: Mutable<Memory> = {
    memoryId, retainedAt, trust, text, tags, metadata, occurredAt, expiresAt, documentId, source, tokens,
  }
  const labels = labelsOf(memory)
  if (await runSyncOrInTurns(suspicionIn(text, labels), caller)) memory.trust = 'suspect'
  return { memory, fingerprint: await runSyncOrInTurns(fingerprintSteps(memory), caller), redactions }
}

function * suspicionIn (text: string, labels: string): Steps<boolean> {
  if ((yield * suspicionSteps(text)).length > 0) return true
  return labels !== NO_LABELS && (yield * suspicionSteps(labels)).length > 0
}

/** The result of labelsOf for a memory without labels. */
const NO_LABELS = ' ,  , '
/** White space other than a single space. */
const SPACES = /[^\S ]\s*| \s+/gu

/**
 * All texts of a memory except its content, because a model may see them too. None is at the beginning of a line, where
 * a tag like `system:linux` would look like a speaker's turn.
 */
function labelsOf ({ tags, metadata, documentId, source }: Memory): string {
  const hasMetadata = Object.keys(metadata).length > 0
  if (tags.length === 0 && documentId === null && source === null && !hasMetadata) return NO_LABELS
  return [
    '', documentId ?? '', source ?? '', ...tags,
    ...Object.entries(metadata).flat().filter((part) => typeof part === 'string'),
  ].join(' , ')
}

/**
 * Identifies exact repeats: SHA-256 in hex of the content after NFC, trimming and collapsing of white space, and of the
 * set of tags, the document and the time.
 */
export function fingerprintOf (memory: Memory): string {
  return runSync(fingerprintSteps(memory))
}

/** `fingerprintOf` in steps, for texts of any length. */
export function * fingerprintSteps ({
  text, tags, documentId, occurredAt,
}: Pick<Memory, 'text' | 'tags' | 'documentId' | 'occurredAt'>): Steps<string> {
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
  if (text.length <= PART_CHARACTERS) return change(text)
  let changed = ''
  for (const part of splitForFolding(text, change)) {
    changed += change(part)
    yield
  }
  return changed
}
