import type { ErrorObject } from 'ajv'
import { didYouMean, nearest } from '../errors/wording.js'
import { formatPath, fromPointer, type Path } from './paths.js'
import { printable, quote, quoteAll } from './problems.js'
import { branchOf, branchTypes, describe, type SchemaNode } from './schema-node.js'
import { isJsonObject } from '../validation/json-object.js'

const SENSITIVE = /secret|passw|pwd|token|key|dsn|url|uri|credential|private/i

/** What is known of the places of the file whose values came from the environment. */
export interface Places {
  places: ReadonlySet<string>
  broken: ReadonlySet<string>
}

/** One sentence a fault: the path, what was found and what is allowed. A value that may be a secret is never said. */
export function explain (errors: readonly ErrorObject[], root: unknown, substituted: Places): string[] {
  return withoutUnionNoise(errors)
    .filter((error) => !substituted.broken.has(error.instancePath))
    .map((error) => sentence(error, fromPointer(error.instancePath, root), substituted))
}

function sentence (error: ErrorObject, path: Path, substituted: Places): string {
  const schema: SchemaNode = error.parentSchema ?? {}
  if (error.keyword === 'additionalProperties') return unknownKey(String(error.params['additionalProperty']), path, schema)
  if (error.keyword === 'required') return `${formatPath([...path, String(error.params['missingProperty'])])} is missing`
  if (error.keyword === 'anyOf') return badBranch(error.data, path, schema, substituted.places.has(`${error.instancePath}/type`))
  return wrongValue(error.data, path, schema, substituted.places.has(error.instancePath))
}

function unknownKey (key: string, path: Path, schema: SchemaNode): string {
  if (schema.properties === undefined) {
    return `${formatPath(path)}: found the key "${printable(key)}", allowed is ${String(schema['x-keys'])}`
  }
  const removed = schema['x-removed']
  if (removed !== undefined && Object.hasOwn(removed, key)) return `${formatPath([...path, key])} was removed; ${removed[key]}`
  const allowed = Object.keys(schema.properties)
  const meant = nearest(key, allowed)
  const hint = meant === undefined ? `, allowed ${allowed.length === 1 ? 'is' : 'are'} ${quoteAll(allowed)}` : `; did you mean "${meant}"?`
  return `${formatPath([...path, key])} is not a known key${hint}`
}

function wrongValue (value: unknown, path: Path, schema: SchemaNode, substituted: boolean): string {
  const options = (schema.enum ?? [schema.const]).filter((option) => typeof option === 'string')
  const hidden = substituted || isSensitive(path, value, schema)
  const verb = (schema.enum?.length ?? 1) > 1 || schema.type === 'boolean' ? 'are' : 'is'
  const hint = typeof value === 'string' && !hidden ? didYouMean(value, options) : ''
  return `${formatPath(path)}: found ${hidden && value !== null ? `${kindOf(value)} (not shown)` : shown(value)}, allowed ${verb} ${describe(schema)}${hint}`
}

function badBranch (value: unknown, path: Path, schema: SchemaNode, substituted: boolean): string {
  if (!isJsonObject(value)) return wrongValue(value, path, schema, true)
  const typePath = [...path, 'type']
  const types = branchTypes(schema)
  if (!Object.hasOwn(value, 'type')) return `${formatPath(typePath)} is missing, allowed are ${quoteAll(types)}`
  return wrongValue(value['type'], typePath, { enum: types }, substituted)
}

/** Of a union, only what the chosen branch says; and what the union says only when no branch is chosen. */
function withoutUnionNoise (errors: readonly ErrorObject[]): ErrorObject[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf')
  return errors.filter((error) => {
    if (error.keyword === 'anyOf') return chosen(error) === -1
    return unions.every((union) => !belongsTo(error, union) || error.schemaPath.startsWith(`${union.schemaPath}/${chosen(union)}/`))
  })
}

function chosen (union: ErrorObject): number {
  return branchOf(union.parentSchema ?? {}, union.data)
}

function belongsTo (error: ErrorObject, union: ErrorObject): boolean {
  return `${error.instancePath}/`.startsWith(`${union.instancePath}/`) && error.schemaPath.startsWith(`${union.schemaPath}/`)
}

function isSensitive (path: Path, value: unknown, schema: SchemaNode): boolean {
  // recall_max_tokens holds a number; a number found there is too great or too small and no secret.
  const expected = schema.type === 'integer' || schema.type === 'number'
  if (expected && typeof value === 'number') return false
  return path.some((segment) => typeof segment === 'string' && (SENSITIVE.test(segment) || segment.endsWith('_config')))
}

function shown (value: unknown): string {
  if (typeof value === 'string') return quote(value)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindOf(value)
}

function kindOf (value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return typeof value === 'string' ? 'a text' : typeof value === 'object' ? 'a map' : `a ${typeof value}`
}
