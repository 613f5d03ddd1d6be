import type { Memory } from 'memory-gateway-client'
import { firstCharacters } from '../../text/visible-text.js'

/** The part of a memory that a row of the list shows. 100,000 complete memories would need too much space. */
export interface Preview {
  id: string
  text: string
  isTruncated: boolean
  tags: string[]
  said: Pick<Memory, 'speaker' | 'occurred_at' | 'retained_at'>
  trust: Memory['trust']
  /** Undefined: it is current, as most are. */
  past: Pick<Memory, 'state' | 'valid_until'> | undefined
  document: string | null
}

const PREVIEW_LENGTH = 240
const PREVIEW_TAGS = 4

export function previewOf (memory: Memory): Preview {
  const { memory_id: id, text, tags, trust, document_id: document } = memory
  const { state, valid_until: until, speaker, occurred_at: occurredAt, retained_at: retainedAt } = memory
  return {
    id,
    text: firstCharacters(text, PREVIEW_LENGTH),
    isTruncated: text.length > PREVIEW_LENGTH,
    tags: tags.slice(0, PREVIEW_TAGS),
    said: { speaker, occurred_at: occurredAt, retained_at: retainedAt },
    trust,
    past: state === 'current' ? undefined : { state, ...(until !== undefined && { valid_until: until }) },
    document,
  }
}
