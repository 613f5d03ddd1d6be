import { Ajv, type ValidateFunction } from 'ajv'
import { describeErrors } from './explain.js'
import { FileSchema, type FileConfig } from './schema.js'
import type { Substitution } from './substitute.js'

// Not strict, because strict mode refuses our x- annotations and schemas of TypeBox. The value is not changed: nothing
// is coerced, filled in or removed.
const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, ownProperties: true })
/** Compiled for the first file, because a start without one should not wait for it. */
let compiled: ValidateFunction<FileConfig> | undefined

/**
 * Checks a value against the schema of the file.
 * @returns undefined when the value is invalid; `problems` then has the reasons
 */
export function validateFile (value: unknown, substitution: Substitution, problems: string[]): FileConfig | undefined {
  const isFileConfig = compiled ??= ajv.compile<FileConfig>(FileSchema)
  if (isFileConfig(value)) return value
  problems.push(...describeErrors(isFileConfig.errors ?? [], value, substitution))
  return undefined
}
