import { Type, type Static } from 'typebox'
import { strict, instant, trust, MetadataSchema } from './common.js'
import { retainFields } from './retain.js'

export const ImportQuery = strict({
  on_conflict: Type.Optional(Type.Enum(['skip', 'overwrite'], { description: 'Default skip.' })),
  config: Type.Optional(Type.Enum(['ignore', 'apply'], { description: 'apply: the configuration that the export carries, if any, takes the place of the bank\'s. Default ignore.' })),
})

export const ImportAnswer = strict({ imported: Type.Integer(), skipped: Type.Integer(), overwritten: Type.Integer() })

/** A line of an export, which an import accepts with its ids and instants. */
export const ImportLine = strict({
  text: retainFields.content,
  memory_id: Type.Optional(Type.String({ format: 'uuid7' })),
  bank_id: Type.Optional(Type.String({ description: 'Information only.' })),
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 100 })),
  metadata: Type.Optional(MetadataSchema),
  occurred_at: retainFields.occurred_at,
  retained_at: Type.Optional(instant('When the memory was first retained. Default now.')),
  expires_at: retainFields.expires_at,
  document_id: retainFields.document_id,
  source: retainFields.source,
  trust: Type.Optional(trust('Lowers the trust that the importer\'s memories have; it cannot raise it.')),
})

export type ImportAnswer = Static<typeof ImportAnswer>
export type ImportLine = Static<typeof ImportLine>
