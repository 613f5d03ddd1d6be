import type { Schema } from './schema.js'

/** Adds the type to a schema with an enum, which many generators need. */
export function withTypedEnum (schema: Schema): Schema {
  if (schema.enum === undefined || schema.type !== undefined) return schema
  const types = [...new Set(schema.enum.map((value) => value === null ? 'null' : typeof value))]
  return { type: types.length === 1 ? types[0]! : types, ...schema }
}

/**
 * Describes an object with exactly one of several members by one schema for each of them. The service checks the choice
 * itself, because its error is one sentence, and that of a validator of `oneOf` names every alternative.
 */
export function withChoices (schema: Schema): Schema {
  const { 'x-exactly-one-of': choices, title, description, examples, ...common } = schema
  if (choices === undefined) return schema
  const { properties = {}, required = [] } = common
  const members = Object.entries(choices).flat(2)
  const branches = Object.entries(choices).map(([chosen, together]) => {
    const others = members.filter((name) => name !== chosen && !together.includes(name))
    // The other members are forbidden explicitly, because compilers accept extra members of a type that lacks them.
    const refused = Object.fromEntries(others.map((name) => [name, false]))
    return { ...common, required: [...required, chosen], properties: { ...properties, ...refused } }
  })
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(examples !== undefined && { examples }),
    oneOf: branches,
  }
}
