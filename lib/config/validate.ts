import { Ajv, type ValidateFunction } from 'ajv'
import { explain } from './explain.js'
import { FileSchema, type FileConfig } from './schema.js'
import type { Substitution } from './substitute.js'

// TypeBox leaves out what strict mode asks for, and our x- annotations are no keywords. Nothing is coerced, filled in
// or removed: the file says what it says.
const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, ownProperties: true })
/** Compiled when there is a file to check: a start without one need not wait for it. */
let compiled: ValidateFunction<FileConfig> | undefined

/**
 * Checks what was read against the schema of the file.
 * @returns undefined when something is wrong; `problems` then says what
 */
export function validateFile (value: unknown, substitution: Substitution, problems: string[]): FileConfig | undefined {
  const isFileConfig = compiled ??= ajv.compile<FileConfig>(FileSchema)
  if (isFileConfig(value)) return value
  problems.push(...explain(isFileConfig.errors ?? [], value, substitution))
  return undefined
}
