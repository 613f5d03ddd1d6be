import type { Schema } from './schema.js'

/** A schema whose enum has its type, which many generators need. */
export function withTypedEnum (schema: Schema): Schema {
  if (schema.enum === undefined || schema.type !== undefined) return schema
  const types = [...new Set(schema.enum.map((value) => value === null ? 'null' : typeof value))]
  return { type: types.length === 1 ? types[0]! : types, ...schema }
}

/**
 * An object of which exactly one of several members is given, as one schema for each of them. The service checks the
 * choice itself: it says in one sentence what is wrong, where a validator of `oneOf` names each alternative.
 */
export function withChoices (schema: Schema): Schema {
  const { 'x-exactly-one-of': choices, title, description, examples, ...common } = schema
  if (choices === undefined) return schema
  const { properties = {}, required = [] } = common
  const members = Object.entries(choices).flat(2)
  const branches = Object.entries(choices).map(([chosen, together]) => {
    const others = members.filter((name) => name !== chosen && !together.includes(name))
    // That another member has no value is said outright: of a type that only lacks it, a compiler lets it pass.
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
