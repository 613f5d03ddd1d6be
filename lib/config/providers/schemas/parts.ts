import { Type } from 'typebox'
import { setting } from '../../../base/defaults.js'

export const integer = (minimum: number, maximum: number, description: string) => (
  Type.Optional(Type.Integer({ minimum, maximum, description }))
)

/** A text that is put before each query, or before each memory. */
export const prefix = (description: string) => setting(Type.String({
  maxLength: 1000, 'x-allowed': 'of at most 1000 characters', description,
}), '', 'Default: none.')

export const fusionWeight = (maximum: number) => setting(Type.Number({
  minimum: 0,
  maximum,
  description: 'Weight of the semantic score, relative to a lexical weight of 1. `retrieval.weights.semantic` ' +
    'takes precedence.',
}), 1.5)
