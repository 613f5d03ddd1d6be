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
  const branches = Object.entries(choices).map(([chosen, together]) => {
    const others = Object.entries(choices).filter(([name]) => name !== chosen).flat(2)
    const mine = Object.entries(properties).filter(([name]) => !others.includes(name) || together.includes(name))
    return { ...common, required: [...required, chosen], properties: Object.fromEntries(mine) }
  })
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(examples !== undefined && { examples }),
    oneOf: branches,
  }
}
