import { Type, type Static, type TSchema } from 'typebox'
import { BankConfigurationSchema, BarriersSchema } from '../../config/schema.js'
import { importedSchemas, type Metadata, retainedSchemas } from '../../stores/memory-fields.js'
import { strict, BankId, instant, MemoryId, nullable, nullableInstant, trust } from './common.js'
import { MEMORY, MemoryRecord } from './memory-record.js'

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
  superseded: Type.Optional(Type.Array(MemoryId, {
    description: 'The memories whose place it took, by its `key` or `supersedes`; absent when there are none.',
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

const orNull = <S extends TSchema>(schema: S) => {
  const { type, description, ...rest } = schema as S & { type: string, description?: string }
  return Type.Optional(Type.Unsafe<Static<S> | null>({ type: [type, 'null'], ...rest, description }))
}
/** Maximum number of characters of a reason. */
export const MAX_PATCH_REASON = 512

export const MemoryPatch = strict({
  content: Type.Optional(retainFields.content),
  tags: orNull(retainedSchemas.tags),
  metadata: Type.Optional(Type.Unsafe<Metadata | null>({
    type: ['object', 'null'],
    additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
    description: 'Members to set; null removes one.',
  })),
  speaker: orNull(retainedSchemas.speaker),
  occurred_at: orNull(retainedSchemas.occurred_at),
  expires_at: orNull(retainedSchemas.expires_at),
  key: orNull(retainedSchemas.key),
  valid_from: orNull(retainedSchemas.valid_from),
  valid_until: orNull(retainedSchemas.valid_until),
  reason: Type.Optional(Type.String({
    minLength: 1, maxLength: MAX_PATCH_REASON, description: 'Why, for readers of its versions.',
  })),
}, {
  title: 'MemoryPatch', description: 'The members of a memory to change; null removes one.',
})
export type MemoryPatch = Static<typeof MemoryPatch>

export const RetireReason = Type.Enum(['superseded', 'invalidated', 'other'], {
  title: 'RetireReason',
  description: 'superseded: it is so no more. invalidated: it was never so.',
})
export type RetireReason = Static<typeof RetireReason>

const { memory_id: _id, bank_id: _bank, text: _text, ...versionFields } = MemoryRecord.properties
export const MemoryVersion = strict({
  ...versionFields,
  content: Type.String({ description: 'The whole text of the version.' }),
  changed_at: Type.String({ format: 'date-time', description: 'When this version was made.' }),
  changed_by: nullable({ description: 'The principal that made this version; null for an anonymous caller.' }),
  reason: nullable({ description: 'Why it was made.' }),
  ended_at: nullableInstant('When the next version was made; null for the last.'),
  redacted: Type.Boolean({ description: 'Whether what it said was removed.' }),
}, { title: 'MemoryVersion', description: 'A version of a memory.' })
export type MemoryVersion = Static<typeof MemoryVersion>

const { memory_id: _exampleId, bank_id: _exampleBank, text: exampleText, ...exampleVersion } = MEMORY
export const VersionsAnswer = strict({
  versions: Type.Array(MemoryVersion, { description: 'The last one first.' }),
}, {
  title: 'VersionsAnswer',
  description: 'The versions of a memory.',
  examples: [{
    versions: [{
      ...exampleVersion,
      content: exampleText,
      changed_at: MEMORY.retained_at,
      changed_by: 'user:alice',
      reason: null,
      ended_at: null,
      redacted: false,
    }],
  }],
})
export type VersionsAnswer = Static<typeof VersionsAnswer>

export const RedactAnswer = strict({ memory_id: MemoryId, version: Type.Integer(), redacted: Type.Literal(true) }, {
  title: 'RedactAnswer',
  description: 'The version that was emptied.',
  examples: [{ memory_id: RETAINED.memory_id, version: 1, redacted: true }],
})
export type RedactAnswer = Static<typeof RedactAnswer>

export const RollbackRequest = strict({
  to: instant('The bank is set back to this instant, which must not lie in the future.'),
  dry_run: Type.Optional(Type.Boolean({ description: 'Only counts what would change. Default false.' })),
}, { title: 'RollbackRequest', description: 'A rollback.' })
export type RollbackRequest = Static<typeof RollbackRequest>

export const RollbackAnswer = strict({
  restored: Type.Integer({ description: 'Memories that are current again, or are again as they were.' }),
  retired: Type.Integer({ description: 'Memories that are current no more.' }),
  unrecoverable: Type.Integer({
    description: 'Memories that had been retained by then but have been forgotten, or their versions of then redacted.',
  }),
}, {
  title: 'RollbackAnswer',
  description: 'What a rollback changed, or would change.',
  examples: [{ restored: 1, retired: 2, unrecoverable: 0 }],
})
export type RollbackAnswer = Static<typeof RollbackAnswer>

export const ExportQuery = strict({
  versions: Type.Optional(Type.Boolean({
    description: 'Whether superseded and retired memories follow the current ones, and each memory has its earlier ' +
      'versions after it. Default false.',
  })),
})
export type ExportQuery = Static<typeof ExportQuery>

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
  ended_at: Type.Optional(instant('Of a version that is not the last: when the next one was made.')),
  redacted: Type.Optional(Type.Boolean({ description: 'Whether what a version said was removed.' })),
}, { title: 'ImportedMemory', description: 'A memory to import. Members may also be null, which means absent.' })

export const EXPORT_FORMAT = 'memory-gateway-export'
export const EXPORT_VERSION = 1

/** The first line. An import reads its format, its version and its configuration. */
const ExportHeader = Type.Object({
  format: Type.Literal(EXPORT_FORMAT),
  version: Type.Literal(EXPORT_VERSION),
  bank_id: Type.Optional(Type.String({ description: 'For information only; not read.' })),
  exported_at: Type.Optional(Type.String({ format: 'date-time' })),
  memory_count: Type.Optional(Type.Integer({ description: 'Number of the lines that follow.' })),
  config: Type.Optional(BankConfigurationSchema),
}, { title: 'ExportHeader', description: 'The first line of an export.' })

/** For the OpenAPI document: the schemas of the lines of an export and of an import. */
const ExportedMemory = strict({
  ...MemoryRecord.properties,
  changed_by: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
  ended_at: Type.Optional(Type.String({ format: 'date-time' })),
  redacted: Type.Optional(Type.Literal(true)),
}, { title: 'ExportedMemory', description: 'A memory of an export or, with `ended_at`, an earlier version of one.' })
export const exportLine = { title: 'ExportLine', oneOf: [ExportHeader, ExportedMemory] }
export const importLine = { title: 'ImportLine', anyOf: [ExportHeader, ExportedMemory, ImportLine] }

export type ImportAnswer = Static<typeof ImportAnswer>
export type ImportLine = Static<typeof ImportLine>
