import {
  Type, type Static, type TArray, type TObject, type TOptional, type TProperties, type TRecord, type TSchema,
  type TUnion,
} from 'typebox'
import { isJsonObject } from './json-object.js'
import { withoutUndefined } from './members.js'
import { branchOf, type SchemaNode } from './schema-node.js'

// The default of a setting stands in its schema only, which the reference shows and from which it is filled in.

/** An optional key with its default. */
export type TDefaulted<S extends TSchema> = TOptional<S> & { default: Static<S> }

/** The value of a schema with every default filled in: a key stays optional only when it has no default. */
export type Resolved<S> =
  S extends TObject<infer P> ? ResolvedObject<P>
    : S extends TArray<infer Item> ? Array<Resolved<Item>>
      : S extends TRecord<string, infer Value> ? Record<string, Resolved<Value>>
        : S extends TUnion<infer Branches> ? Resolved<Branches[number]>
          : S extends TSchema ? Static<S> : never

type KeyWithoutDefault<P extends TProperties> = {
  [Key in keyof P]: P[Key] extends { default: unknown } ? never : P[Key] extends TOptional<TSchema> ? Key : never
}[keyof P]

type ResolvedObject<P extends TProperties> =
  { [Key in Exclude<keyof P, KeyWithoutDefault<P>>]: Resolved<P[Key]> } &
  { [Key in KeyWithoutDefault<P>]?: Resolved<P[Key]> }

/**
 * An object of settings. An unknown key is an error, never ignored.
 * @param title its name in the OpenAPI document
 */
export function section<P extends TProperties> (properties: P, description: string, title?: string): TObject<P> {
  return Type.Object(properties, withoutUndefined({ additionalProperties: false, description, title }))
}

/**
 * A setting with a default.
 * @param defaultSentence the sentence about the default, appended to the description; empty when the description has it
 */
export function setting<S extends TSchema> (
  schema: S, value: NoInfer<Static<S>>, defaultSentence = `Default ${String(value)}.`,
): TDefaulted<S> {
  const { description = '' } = schema as { description?: string }
  const annotations = {
    description: [description, defaultSentence].filter((text) => text !== '').join(' '), default: value,
  }
  return Object.assign(Type.Optional(schema), annotations) as unknown as TDefaulted<S>
}

/** A section that may be left out; the defaults of its keys then apply. */
export function sectionOfSettings<P extends TProperties> (properties: P, description: string): TDefaulted<TObject<P>> {
  return setting(section(properties, description), {} as Static<TObject<P>>, '')
}

/** The schema without defaults, for a layer of settings, which sets only the keys that it contains. */
export function withoutDefaults<S extends TSchema> (schema: S): S {
  const { default: _, ...descriptors } = Object.getOwnPropertyDescriptors(schema) as Record<string, PropertyDescriptor>
  const { value: properties } = descriptors['properties'] ?? {}
  if (properties !== undefined) {
    const bare = Object.entries(properties as TProperties).map(([key, child]) => [key, withoutDefaults(child)])
    descriptors['properties'] = { ...descriptors['properties'], value: Object.fromEntries(bare) }
  }
  return Object.defineProperties({}, descriptors) as S
}

/**
 * Fills every default of the schema into a copy of a valid value. TypeBox's `Value.Default` cannot be used, because it
 * writes into the value, which is frozen, and skips the values of maps.
 */
export function withDefaults<S extends TSchema> (schema: S, given: unknown): Resolved<S> {
  return filled(schema, given) as Resolved<S>
}

function filled (schema: SchemaNode, given: unknown): unknown {
  const value = given === undefined ? schema.default : given
  if (Array.isArray(value)) return schema.items === undefined ? value : value.map((item) => filled(schema.items!, item))
  if (!isJsonObject(value)) return value
  const branch = schema.anyOf?.[branchOf(schema, value)]
  if (branch !== undefined) return filled(branch, value)
  const { properties = {}, patternProperties = {} } = schema
  const [ofMap] = Object.values(patternProperties)
  const entries = [...new Set([...Object.keys(properties), ...Object.keys(value)])].flatMap((key) => {
    const child = Object.hasOwn(properties, key) ? properties[key] : ofMap
    const inner = child === undefined ? value[key] : filled(child, value[key])
    return inner === undefined ? [] : [[key, inner] as const]
  })
  return Object.fromEntries(entries)
}
