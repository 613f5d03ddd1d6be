import { Type } from 'typebox'

export const integer = (minimum: number, maximum: number, description: string) => (
  Type.Optional(Type.Integer({ minimum, maximum, description }))
)
