import { Type } from 'typebox'

export const integer = (minimum: number, maximum: number, description: string) => (
  Type.Optional(Type.Integer({ minimum, maximum, description }))
)

/** A text that is put before each query, or before each memory. */
export const prefix = (description: string) => Type.Optional(Type.String({
  maxLength: 1000, 'x-allowed': 'of at most 1000 characters', description,
}))

export const fusionWeight = (maximum: number) => Type.Optional(Type.Number({
  minimum: 0,
  maximum,
  description: 'Weight of the semantic score, relative to a lexical weight of 1. `retrieval.weights.semantic` ' +
    'takes precedence. Default 1.5.',
}))
