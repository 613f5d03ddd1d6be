import { Type, type Static } from 'typebox'
import { BankConfigurationSchema } from '../../config/schema.js'
import { importedSchemas } from '../../stores/memory-fields.js'
import { strict } from './common.js'
import { MemoryRecord } from './memory-record.js'
import { retainFields } from './retain.js'

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
