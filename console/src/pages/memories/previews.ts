import type { Memory } from 'memory-gateway-client'
import { firstCharacters } from '../../text/visible-text.js'

/** The part of a memory that a row of the list shows. 100,000 whole memories would take too much memory. */
export interface Preview {
  id: string
  text: string
  isCut: boolean
  tags: string[]
  at: string
  trust: Memory['trust']
  document: string | null
}

const SHOWN = 240
const SHOWN_TAGS = 4

export function previewOf (memory: Memory): Preview {
  const { memory_id: id, text, tags, trust, document_id: document } = memory
  return {
    id,
    text: firstCharacters(text, SHOWN),
    isCut: text.length > SHOWN,
    tags: tags.slice(0, SHOWN_TAGS),
    at: memory.occurred_at ?? memory.retained_at,
    trust,
    document,
  }
}
