import { isJsonObject } from './json-object.js'

/** The JSON Schema keywords that settings, input and messages about them use. */
export interface SchemaNode {
  // Not used here. TypeScript requires a member in common with the types of TypeBox and of Ajv.
  '~kind'?: string
  $id?: string
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  format?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  properties?: Readonly<Record<string, SchemaNode>>
  patternProperties?: Readonly<Record<string, SchemaNode>>
  additionalProperties?: unknown
  items?: SchemaNode
  anyOf?: readonly SchemaNode[]
  required?: readonly string[] | undefined
  description?: string
  default?: unknown
  /** The keys of a map in words. */
  'x-keys'?: unknown
  /** The meaning of a pattern in words. */
  'x-allowed'?: unknown
}

/** The schema of a key or of an index of a list; undefined when it depends on the value. */
export function childOf (schema: SchemaNode | undefined, segment: string | number): SchemaNode | undefined {
  if (schema === undefined) return undefined
  if (typeof segment === 'number') return schema.items
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, segment)) return schema.properties[segment]
  return Object.entries(schema.patternProperties ?? {}).find(([pattern]) => new RegExp(pattern, 'u').test(segment))?.[1]
}

/** Whether the key may have no value: it is an optional section or list, whose lines may all be commented out. */
export function mayBeEmpty (schema: SchemaNode | undefined, key: string): boolean {
  if (schema?.properties === undefined || !Object.hasOwn(schema.properties, key)) return false
  const type = schema.properties[key]?.type
  return (type === 'object' || type === 'array') && schema.required?.includes(key) !== true
}

/** The values of `type` that tell the branches of a union apart. */
export function branchTypes (schema: SchemaNode): string[] {
  return (schema.anyOf ?? []).map((branch) => String(branch.properties?.['type']?.const))
}

/** The branch that the `type` of a value chooses; -1 when it chooses none. */
export function branchOf (schema: SchemaNode, value: unknown): number {
  return isJsonObject(value) && typeof value['type'] === 'string' ? branchTypes(schema).indexOf(value['type']) : -1
}
