import { createHash } from 'node:crypto'
import { defaultSections } from '../../lib/config/schema.js'
import { passageSpans } from '../../lib/ranking/passages.js'
import { newLife, optionalValues } from '../../lib/stores/memory-fields.js'
import type { Memory, NewMemory, Selector } from '../../lib/stores/vector-store.js'
import { indexedPassages } from '../../lib/stores/passages.js'
import { statedSpeaker } from '../../lib/stores/speaker.js'
import { TokenCount } from '../../lib/text/tokens.js'
import { countingIds } from './clock.js'

/** The instant at which tests of stores take place. */
export const NOW = Date.parse('2026-01-15T10:00:00.000Z')

export const newId = countingIds()

const { chunk_max_characters: DEFAULT_CHUNK_MAX_CHARACTERS } = defaultSections(0).retrieval

export interface MemoryFields extends Partial<Omit<Memory, 'text' | 'tokens'>> {
  fingerprint?: string
  /** One for each passage, in order. Absent: the memory has no embeddings. */
  vectors?: ReadonlyArray<readonly number[]>
  chunkMaxCharacters?: number
}

/** A memory as a store returns it. Everything that is not in `fields` is empty. */
export function memoryWith (fields: Pick<Memory, 'memoryId' | 'text' | 'tokens'> & Partial<Memory>): Memory {
  return {
    tags: [],
    metadata: {},
    ...optionalValues(() => null),
    retainedAt: NOW,
    speaker: statedSpeaker(fields.metadata ?? {}),
    message: null,
    trust: 'trusted',
    ...newLife({ changedAt: fields.retainedAt ?? NOW, changedBy: null }),
    ...fields,
  }
}

/** A memory as the service hands it to a store. Ids count up with the calls; everything else is as `fields` says. */
export async function newMemory (text: string, fields: MemoryFields = {}): Promise<NewMemory> {
  const { fingerprint, vectors, chunkMaxCharacters = DEFAULT_CHUNK_MAX_CHARACTERS, ...rest } = fields
  const spans = passageSpans(text, chunkMaxCharacters)
  // Speakers are left out of the terms, so that a test says by its text alone what is found.
  const passages = indexedPassages({ text, speaker: null }, spans)
  if (vectors !== undefined && vectors.length !== passages.length) {
    throw new Error(`${passages.length} passages, but ${vectors.length} vectors`)
  }
  const memory = memoryWith({ memoryId: newId(), text, tokens: TokenCount.of(text), ...rest })
  return {
    ...memory,
    fingerprint: fingerprint ?? fingerprintOf(memory),
    passages: passages.map((passage, index) => ({
      ...passage,
      ...(vectors !== undefined && { vector: Float32Array.from(vectors[index]!) }),
    })),
  }
}

/** One memory for each text, all with the same fields. */
export async function newMemories (texts: readonly string[], fields: MemoryFields = {}): Promise<NewMemory[]> {
  const memories: NewMemory[] = []
  for (const text of texts) memories.push(await newMemory(text, fields))
  return memories
}

/** What a store gives back of a memory that it was given. */
export function storedForm ({ fingerprint: _fingerprint, passages: _passages, ...memory }: NewMemory): Memory {
  return memory
}

function fingerprintOf ({ text, tags, documentId, occurredAt, key, validFrom, validUntil }: Memory): string {
  const identity = [text, tags, documentId, occurredAt, key, validFrom, validUntil]
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex')
}

/** Selects memories that have any, or all, of the tags. */
export function withTags (values: readonly string[], match: 'any' | 'all' = 'any'): Selector {
  return { kind: 'filters', filters: { tags: { values, match } } }
}
