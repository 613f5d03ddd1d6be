import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { invalidField } from '../lib/errors/service-error.js'
import { UNSET_ETAG, type Precondition } from '../lib/memory/bank-configurations.js'

/** RFC 9110 section 8.8.3. A tag may contain commas. */
const ENTITY_TAG = String.raw`(?:W/)?"[\x21\x23-\x7e]*"`
const ENTITY_TAGS = new RegExp(`^${ENTITY_TAG}(?:[ \\t]*,[ \\t]*${ENTITY_TAG})*$`)
const EACH_ENTITY_TAG = new RegExp(ENTITY_TAG, 'g')

/** The schema for the OpenAPI document; preconditionOf() checks the values. */
export const Preconditions = Type.Object({
  'if-match': Type.Optional(Type.String({
    maxLength: 4096,
    description: 'Entity tags, or `*` for any configuration that is set. Nothing is changed unless one of them ' +
      'is in force.',
    examples: ['"hXZQ0b1rmzKq7yTnW5cJfA"'],
  })),
  'if-none-match': Type.Optional(Type.String({
    description: 'Only `*`: nothing is changed if a configuration is set. Not together with If-Match.',
    examples: ['*'],
  })),
})

/**
 * Reads If-Match and If-None-Match (RFC 9110, section 13.1); a weak or unknown tag matches no configuration.
 * @throws ServiceError invalid_request
 */
export function preconditionOf ({ headers }: FastifyRequest): Precondition | undefined {
  const value = headers['if-match']?.trim()
  const none = headers['if-none-match']?.trim()
  if (none !== undefined) {
    if (none !== '*') throw invalidField('If-None-Match', 'must be *')
    if (value !== undefined) throw invalidField('If-None-Match', 'cannot be sent together with If-Match')
    return [UNSET_ETAG]
  }
  if (value === undefined) return undefined
  if (value === '*') return 'set'
  if (!ENTITY_TAGS.test(value)) throw invalidField('If-Match', 'must be *, or entity tags in double quotes')
  return [...value.matchAll(EACH_ENTITY_TAG)].map(([tag]) => tag)
}
