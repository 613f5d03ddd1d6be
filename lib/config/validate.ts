import type { ErrorObject } from 'ajv'
import { didYouMean, nearest } from '../errors/wording.js'
import { formatPath, fromPointer, type Path, printable, quote, quoteAll } from './problems.js'
import { FileSchema, type FileConfig } from './schema.js'
import { isJsonObject } from '../validation/json-object.js'
import { branchOf, branchTypes, type SchemaNode } from '../validation/schema-node.js'
import { SETTINGS_WORDS, validatorOf, valuesOf } from '../validation/schema-check.js'

const PROVIDERS = ['vector_store', 'llm_provider', 'embedding_provider', 'reranker']
/** Sections that are checked with each other. */
const GROUPS = [...PROVIDERS.map((name) => [name, `${name}_config`]), ['banks', 'profiles']]
const SENSITIVE = /secret|passw|pwd|token|key|dsn|url|uri|credential|private/i

/** All problems are reported, however large the file is. */
const validate = validatorOf(FileSchema, Infinity)
const isFileConfig = (value: unknown): value is FileConfig => validate(value)

/** The substituted values of the file, as JSON pointers. */
interface SubstitutedPaths {
  /** Values that came from the environment and may be secrets. */
  resolved: ReadonlySet<string>
  /** Values that could not be substituted, for which a problem is already reported. */
  unresolved: ReadonlySet<string>
}

export interface CheckedFile {
  file: FileConfig
  /** False when the file is invalid, and `file` has only some of its valid sections. */
  isComplete: boolean
}

/**
 * Checks a value against the schema of the file.
 * @param problems gets the reasons when the value is invalid
 * @returns undefined when the value is no map
 */
export function validateFile (
  value: unknown, substituted: SubstitutedPaths, problems: string[],
): CheckedFile | undefined {
  if (isFileConfig(value)) return { file: value, isComplete: true }
  const errors = validate.problems
  problems.push(...describeErrors(errors, value, substituted))
  return isJsonObject(value) ? { file: validSections(value, errors), isComplete: false } : undefined
}

/**
 * The sections of an invalid file that can be checked further, so that their problems are reported together with those
 * of the schema. Sections that are checked with a wrong one are left out: a problem of theirs may be its consequence.
 */
function validSections (value: Record<string, unknown>, errors: readonly ErrorObject[]): FileConfig {
  const wrong = new Set(errors.flatMap((error) => sectionsOf(error, value)))
  for (const name of PROVIDERS) if (!Object.hasOwn(value, name)) wrong.add(name)
  for (const group of GROUPS) if (group.some((key) => wrong.has(key))) for (const key of group) wrong.add(key)
  return Object.fromEntries(Object.entries(value).filter(([key]) => !wrong.has(key)))
}

/** The section of an error, and for an unknown key also the one that was probably meant. */
function sectionsOf ({ instancePath, params }: ErrorObject, value: Record<string, unknown>): string[] {
  const [section] = fromPointer(instancePath, value)
  if (section !== undefined) return [String(section)]
  const unknown = String(params['additionalProperty'])
  return [unknown, nearest(unknown, Object.keys(FileSchema.properties)) ?? unknown]
}

/** One sentence for each error: the path, the value and what is allowed. A value that may be a secret is not quoted. */
function describeErrors (errors: readonly ErrorObject[], root: unknown, substituted: SubstitutedPaths): string[] {
  return withoutUnionNoise(errors)
    .filter((error) => !substituted.unresolved.has(error.instancePath))
    .map((error) => sentence(error, fromPointer(error.instancePath, root), substituted))
}

function sentence (error: ErrorObject, path: Path, substituted: SubstitutedPaths): string {
  const schema: SchemaNode = error.parentSchema ?? {}
  const { keyword, params, data, instancePath } = error
  if (keyword === 'additionalProperties') return unknownKey(String(params['additionalProperty']), path, schema)
  if (keyword === 'required') return `${formatPath([...path, String(params['missingProperty'])])} is missing`
  if (keyword === 'anyOf') return badBranch(data, path, schema, substituted.resolved.has(`${instancePath}/type`))
  return wrongValue(data, path, schema, substituted.resolved.has(instancePath))
}

function unknownKey (key: string, path: Path, schema: SchemaNode): string {
  if (schema.properties === undefined) {
    return `${formatPath(path)}: found the key "${printable(key)}", allowed is ${String(schema['x-keys'])}`
  }
  const place = formatPath([...path, key])
  const allowed = Object.keys(schema.properties)
  const meant = nearest(key, allowed)
  if (meant !== undefined) return `${place} is not a known key; did you mean "${meant}"?`
  return `${place} is not a known key, allowed ${allowed.length === 1 ? 'is' : 'are'} ${quoteAll(allowed)}`
}

function wrongValue (value: unknown, path: Path, schema: SchemaNode, substituted: boolean): string {
  const options = (schema.enum ?? [schema.const]).filter((option) => typeof option === 'string')
  const hidden = substituted || isSensitive(path, value, schema)
  const verb = (schema.enum?.length ?? 1) > 1 || schema.type === 'boolean' ? 'are' : 'is'
  const hint = typeof value === 'string' && !hidden ? didYouMean(value, options) : ''
  const found = hidden && value !== null ? `${kindOf(value)} (not shown)` : displayValue(value)
  return `${formatPath(path)}: found ${found}, allowed ${verb} ${describe(schema)}${hint}`
}

function badBranch (value: unknown, path: Path, schema: SchemaNode, substituted: boolean): string {
  if (!isJsonObject(value)) return wrongValue(value, path, schema, true)
  const typePath = [...path, 'type']
  const types = branchTypes(schema)
  if (!Object.hasOwn(value, 'type')) return `${formatPath(typePath)} is missing, allowed are ${quoteAll(types)}`
  return wrongValue(value['type'], typePath, { enum: types }, substituted)
}

/** Keeps the errors of the union branch that `type` chooses; the error of the union itself only if it chooses none. */
function withoutUnionNoise (errors: readonly ErrorObject[]): ErrorObject[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf')
  return errors.filter((error) => {
    if (error.keyword === 'anyOf') return chosenBranch(error) === -1
    return unions.every((union) => (
      !belongsTo(error, union) || error.schemaPath.startsWith(`${union.schemaPath}/${chosenBranch(union)}/`)
    ))
  })
}

function chosenBranch (union: ErrorObject): number {
  return branchOf(union.parentSchema ?? {}, union.data)
}

function belongsTo (error: ErrorObject, union: ErrorObject): boolean {
  return `${error.instancePath}/`.startsWith(`${union.instancePath}/`) &&
    error.schemaPath.startsWith(`${union.schemaPath}/`)
}

function isSensitive (path: Path, value: unknown, schema: SchemaNode): boolean {
  // A number where a number is expected is out of range and not a secret, as in recall_max_tokens.
  const expected = schema.type === 'integer' || schema.type === 'number'
  if (expected && typeof value === 'number') return false
  return path.some((segment) => typeof segment === 'string' && (SENSITIVE.test(segment) || segment.endsWith('_config')))
}

function displayValue (value: unknown): string {
  if (typeof value === 'string') return quote(value)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindOf(value)
}

function kindOf (value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return typeof value === 'string' ? 'a text' : typeof value === 'object' ? 'a map' : `a ${typeof value}`
}

/** The allowed values in words: `an integer from 1 to 10`, `"owner_only", "open", "deny"`. */
export function describe (schema: SchemaNode): string {
  if (schema.enum !== undefined) return quoteAll(schema.enum.map(String))
  if (schema.const !== undefined) return quoteAll([String(schema.const)])
  if (schema.anyOf !== undefined) return `a map with the key type, one of ${quoteAll(branchTypes(schema))}`
  if (schema.type === 'boolean') return 'true, false'
  return schema.type === undefined ? 'anything' : valuesOf(String(schema.type), schema, SETTINGS_WORDS).join(' or ')
}
