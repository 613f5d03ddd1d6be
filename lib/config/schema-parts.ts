import {
  Type, type Static, type TArray, type TObject, type TOptional, type TProperties, type TRecord, type TSchema,
  type TUnion,
} from 'typebox'
import { withoutUndefined } from '../validation/members.js'

// Annotations for messages and for the reference (docs/configuration.md), which validation ignores: `x-allowed`
// describes a pattern in words, `x-keys` the keys of a map, and `x-removed` what replaces a removed key.

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
 * An object of the configuration file. An unknown key is an error, never ignored.
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

export const integer = (description: string, minimum: number, maximum?: number) => (
  Type.Integer(range(description, minimum, maximum))
)
export const number = (description: string, minimum: number, maximum?: number) => (
  Type.Number(range(description, minimum, maximum))
)
export const flag = (description: string) => Type.Boolean({ description })
export const choice = <const Values extends string[]>(values: readonly [...Values], description: string) => (
  Type.Enum(values as [...Values], { description })
)

function range (description: string, minimum: number, maximum: number | undefined) {
  return maximum === undefined ? { minimum, description } : { minimum, maximum, description }
}

/** @param allowed the pattern in words */
export const text = (pattern: string, allowed: string, description: string) => (
  Type.String({ pattern, 'x-allowed': allowed, description })
)

/** @param longest in characters */
export const words = (longest: number, description?: string) => Type.String(withoutUndefined({
  minLength: 1,
  maxLength: longest,
  'x-allowed': `of 1 to ${longest} characters`,
  description,
}))

/** A bank id or a principal, or a prefix before one trailing `*`. */
export const pattern = (what: string) => Type.String({
  pattern: '^[^\\s*]*\\*?$',
  minLength: 1,
  'x-allowed': 'without spaces, with * only as the last character',
  description: `${what}; one trailing * matches any suffix.`,
})

export const Permissions = Type.Array(Type.Enum(['read', 'write', 'forget', 'admin', '*']), {
  minItems: 1,
  description: '`*` means all four; `admin` implies none of the others, but its holder may grant permissions on the ' +
    'bank unless access_control.bank_grants is false.',
})

export const TrustOfWriter = (description: string) => choice(['untrusted', 'trusted'], description)
