import type { Memory } from 'memory-gateway-client'
import { firstCharacters } from '../../text/visible-text.js'

/** The part of a memory that a row of the list shows. 100,000 complete memories would need too much space. */
export interface Preview {
  id: string
  text: string
  isTruncated: boolean
  tags: string[]
  at: string
  trust: Memory['trust']
  document: string | null
}

const PREVIEW_LENGTH = 240
const PREVIEW_TAGS = 4

export function previewOf (memory: Memory): Preview {
  const { memory_id: id, text, tags, trust, document_id: document } = memory
  return {
    id,
    text: firstCharacters(text, PREVIEW_LENGTH),
    isTruncated: text.length > PREVIEW_LENGTH,
    tags: tags.slice(0, PREVIEW_TAGS),
    at: memory.occurred_at ?? memory.retained_at,
    trust,
    document,
  }
}
