import { hash } from 'node:crypto'
import { runSync, type Steps } from '../concurrency/steps.js'
import type { Memory } from '../stores/vector-store.js'
import { normalForm } from '../text/normal-form.js'
import { PART_CHARACTERS, splitForFolding } from '../text/parts.js'
import { suspicionSteps } from '../text/suspicion.js'

/** The parts of a memory that are inspected. */
export type InspectedMemory = Pick<Memory, 'text' | 'tags' | 'metadata' | 'documentId' | 'source' | 'occurredAt'>

/** What the texts of a memory show. */
export interface Inspection {
  /** Whether one of them looks like an attack on a model. */
  isSuspect: boolean
  /** Of the content, see `fingerprintOf`. */
  fingerprint: string
}

/** Inspects a memory. It depends on nothing but the memory, so a worker thread may do it. */
export function * inspectionSteps (memory: InspectedMemory): Steps<Inspection> {
  const isSuspect = yield * suspicionIn(memory.text, labelsOf(memory))
  return { isSuspect, fingerprint: yield * fingerprintSteps(memory) }
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
function labelsOf ({ tags, metadata, documentId, source }: InspectedMemory): string {
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
