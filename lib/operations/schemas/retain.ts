import { Type, type Static } from 'typebox'
import { BankConfigurationSchema, BarriersSchema } from '../../config/schema.js'
import { importedSchemas, retainedSchemas } from '../../stores/memory-fields.js'
import { strict, BankId, MemoryId, trust } from './common.js'
import { MemoryRecord } from './memory-record.js'

export { EVENT_COLUMNS } from '../../stores/memory-fields.js'

const { max_content_length: { default: LONGEST } } = BarriersSchema.properties.validation.properties

const RETAINED = {
  stored: true,
  memory_id: '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f',
  chunk_count: 1,
  deduplicated: false,
  bank_id: 'user-alice',
}

const retainFields = {
  content: Type.String({
    description: `The memory's text: 1–${LONGEST.toLocaleString('en-US')} characters after trimming, unless the ` +
      'bank\'s barriers set another limit.',
    examples: ['Alice prefers tea over coffee.'],
  }),
  ...retainedSchemas,
  replace_document: Type.Optional(Type.Boolean({
    description: 'Whether the memories of the request replace the document: its other memories are forgotten in the ' +
      'same step. Needs `forget` too. One item of a document that says so is enough. Default false.',
  })),
}

export const RetainItem = strict(retainFields, { title: 'RetainItem', description: 'A memory to store in a batch.' })
export const RetainRequest = strict({ bank_id: BankId, ...retainFields }, {
  title: 'RetainRequest',
  description: 'A memory to store.',
  examples: [{ bank_id: 'user-alice', content: 'Alice prefers tea over coffee.', tags: ['preference'] }],
})

export const RetainAnswer = strict({
  stored: Type.Boolean({
    description: 'False for an exact repeat, and for a near-duplicate that the bank does not store ' +
      '(`signal_quality.dedup`). Only for callers with `read` on the bank.',
  }),
  memory_id: MemoryId,
  chunk_count: Type.Integer({ description: 'Number of passages into which the text was split for search.' }),
  deduplicated: Type.Boolean({
    description: 'True when nothing was stored: the bank has an exact repeat (the same text, tags, `document_id` and ' +
      '`occurred_at`) or, when `near_duplicate` is present, a near-duplicate in place of which the bank stores no ' +
      'other. `memory_id` is the id of that memory. It is not changed: other fields of the request, such as ' +
      '`expires_at`, `metadata` and `source`, are ignored.',
  }),
  bank_id: BankId,
  updated: Type.Optional(Type.Boolean({
    description: 'True when the content replaced a near-duplicate and keeps its id.',
  })),
  near_duplicate: Type.Optional(strict({
    memory_id: MemoryId,
    similarity: Type.Number({ description: 'From 0 to 1.' }),
  }, {
    title: 'NearDuplicate',
    description: 'The memory that this one nearly repeats, when the bank detects near-duplicates ' +
      '(`signal_quality.dedup`).',
  })),
  trust: Type.Optional(trust('Trust of the memory `memory_id`, when it is below `trusted`: `untrusted` because of ' +
    'its writer, `suspect` when it looks like an instruction to a model or hides text.')),
  redactions: Type.Optional(Type.Array(Type.String(), {
    description: 'Metadata keys that the bank\'s barriers removed.',
  })),
}, { title: 'RetainAnswer', description: 'The result of storing a memory.', examples: [RETAINED] })

export const MAX_BATCH_ITEMS = 1000

export const RetainBatchRequest = strict({
  bank_id: BankId, items: Type.Array(RetainItem, { minItems: 1, maxItems: MAX_BATCH_ITEMS }),
}, {
  title: 'RetainBatchRequest',
  description: 'Memories to store, all or none.',
  examples: [
    { bank_id: 'user-alice', items: [{ content: 'Alice lives in Lyon.' }, { content: 'Alice plays the cello.' }] },
  ],
})
export const RetainBatchAnswer = strict({
  results: Type.Array(RetainAnswer, { description: 'In the order of the items.' }),
}, {
  title: 'RetainBatchAnswer', description: 'The result for each memory.', examples: [{ results: [RETAINED] }],
})

export type RetainItem = Static<typeof RetainItem>
export type RetainRequest = Static<typeof RetainRequest>
export type RetainAnswer = Static<typeof RetainAnswer>
export type RetainBatchRequest = Static<typeof RetainBatchRequest>
export type RetainBatchAnswer = Static<typeof RetainBatchAnswer>

export const IMPORT_DEFAULTS = { on_conflict: 'skip', config: 'ignore' } as const

export const ImportQuery = strict({
  on_conflict: Type.Optional(Type.Enum(['skip', 'overwrite'], {
    description: 'Whether a memory that the bank already has is skipped or overwritten. ' +
      `Default ${IMPORT_DEFAULTS.on_conflict}.`,
  })),
  config: Type.Optional(Type.Enum(['ignore', 'apply'], {
    description: 'apply: the configuration in the export, if any, replaces that of the bank, and the memories are ' +
      `checked under it. Default ${IMPORT_DEFAULTS.config}.`,
  })),
})
export type ImportQuery = Static<typeof ImportQuery>

export const ImportAnswer = strict({ imported: Type.Integer(), skipped: Type.Integer(), overwritten: Type.Integer() }, {
  title: 'ImportBankAnswer',
  description: 'Numbers of imported, skipped and overwritten memories.',
  examples: [{ imported: 2, skipped: 0, overwritten: 0 }],
})

/** A line of an import after the first: a line of an export, with its ids and instants. */
export const ImportLine = strict({
  text: retainFields.content,
  bank_id: Type.Optional(Type.String({ description: 'For information only; not read.' })),
  ...importedSchemas,
}, { title: 'ImportedMemory', description: 'A memory to import. Members may also be null, which means absent.' })

export const EXPORT_FORMAT = 'memory-gateway-export'
export const EXPORT_VERSION = 1

/** The first line. An import reads its format, its version and its configuration. */
const ExportHeader = Type.Object({
  format: Type.Literal(EXPORT_FORMAT),
  version: Type.Literal(EXPORT_VERSION),
  bank_id: Type.Optional(Type.String({ description: 'For information only; not read.' })),
  exported_at: Type.Optional(Type.String({ format: 'date-time' })),
  memory_count: Type.Optional(Type.Integer()),
  config: Type.Optional(BankConfigurationSchema),
}, { title: 'ExportHeader', description: 'The first line of an export.' })

/** For the OpenAPI document: the schemas of the lines of an export and of an import. */
export const exportLine = { title: 'ExportLine', oneOf: [ExportHeader, MemoryRecord] }
export const importLine = { title: 'ImportLine', anyOf: [ExportHeader, MemoryRecord, ImportLine] }

export type ImportAnswer = Static<typeof ImportAnswer>
export type ImportLine = Static<typeof ImportLine>
