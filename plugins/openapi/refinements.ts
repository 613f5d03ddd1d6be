import type { Schema } from './schema.js'
import { withoutUndefined } from '../../lib/validation/members.js'

/** Adds the type to a schema with an enum, which many generators need. */
export function withTypedEnum (schema: Schema): Schema {
  if (schema.enum === undefined || schema.type !== undefined) return schema
  const types = [...new Set(schema.enum.map((value) => value === null ? 'null' : typeof value))]
  return { type: types.length === 1 ? types[0]! : types, ...schema }
}

/**
 * Accepts no value. It is not written `false` or `not`, because generators such as @hey-api/openapi-ts leave out a
 * member whose schema is `false` and ignore `not`. They all make `string & number` of this, which is `never`.
 */
const NO_VALUE: Schema = { allOf: [{ type: 'string' }, { type: 'number' }] }

/**
 * Describes an object with exactly one of several members, or with some that exclude the others, by one schema for each
 * of them. The service checks the choice
 * itself, because its error is one sentence, while that of a `oneOf` validator names every alternative.
 */
export function withChoices (schema: Schema): Schema {
  const { 'x-choice': choices, title, description, examples, ...common } = schema
  if (choices === undefined) return schema
  const { properties = {}, required = [] } = common
  const members = Object.entries(choices).flat(2)
  const branches = Object.entries(choices).map(([chosen, together]) => {
    const others = members.filter((name) => name !== chosen && !together.includes(name))
    // The other members are forbidden explicitly, because compilers accept extra members of a type that lacks them.
    const refused = Object.fromEntries(others.map((name) => [
      name, { ...NO_VALUE, description: `Not allowed with ${chosen}.` },
    ]))
    return { ...common, required: [...required, chosen], properties: { ...properties, ...refused } }
  })
  // Choices that may be given together satisfy several schemas.
  const isExclusive = Object.entries(choices).every(([chosen, together]) => (
    together.every((name) => name === chosen || !Object.hasOwn(choices, name))
  ))
  return {
    ...withoutUndefined({ title, description, examples }),
    ...(isExclusive ? { oneOf: branches } : { anyOf: branches }),
  }
}
