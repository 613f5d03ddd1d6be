import { hash } from 'node:crypto'
import { TEXTS } from '../stores/memory-fields.js'
import type { Memory } from '../stores/vector-store.js'
import { normalForm } from '../text/normal-form.js'
import { suspicionsIn } from '../text/suspicion.js'

/** The parts of a memory that are inspected. */
export type InspectedMemory = Omit<Memory, 'memoryId' | 'retainedAt' | 'trust' | 'tokens'>

/** What the texts of a memory show. */
export interface Inspection {
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
const LABELS = TEXTS.filter((name) => name !== 'text' && name !== 'speaker')
/** White space other than a single space. */
const SPACES = /[^\S ]\s*| \s+/gu

/**
 * All texts of a memory except its content, because a model may see them too. None is at the beginning of a line, where
 * a tag like `system:linux` would look like a speaker's turn. Empty for a memory without any.
 */
function labelsOf (memory: InspectedMemory): string {
  const { tags, metadata } = memory
  const labels = [
    ...LABELS.flatMap((name) => memory[name] ?? []), ...tags,
    ...Object.entries(metadata).flat().filter((part) => typeof part === 'string'),
  ]
  return labels.length === 0 ? '' : ['', ...labels].join(' , ')
}

/**
 * Identifies exact repeats: SHA-256 in hex of the content after NFC, trimming and collapsing of white space, and of the
 * set of tags, the document and the time.
 */
export function fingerprintOf ({
  text, tags, documentId, occurredAt,
}: Pick<Memory, 'text' | 'tags' | 'documentId' | 'occurredAt'>): string {
  const content = normalForm(text, 'NFC').trim().replace(SPACES, ' ')
  return hash('sha256', JSON.stringify([content, tags, documentId, occurredAt]))
}
