import { Type } from 'typebox'
import { withoutUndefined } from '../validation/members.js'

// Annotations for messages and for the reference (docs/configuration.md), which validation ignores: `x-allowed`
// describes a pattern in words, `x-keys` the keys of a map.

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
