import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { disconnectSignal } from '../http/disconnect-signal.js'
import { BankConfigurationSchema } from '../lib/config/schema.js'
import { invalidField } from '../lib/errors/service-error.js'
import { UNSET_ETAG, type Precondition } from '../lib/memory/entity-tags.js'
import {
  BankConfigAnswer, BankConfigHistoryAnswer, ConfigHistoryQuery, DeleteBankAnswer,
} from '../lib/memory/schemas.js'
import { BankParams } from './banks.js'
import { answers, BODY_ERRORS, CALLER_ERRORS, LIMIT_ERRORS, withHeaders } from './responses.js'

/** RFC 9110 section 8.8.3. A tag may contain commas. */
const ENTITY_TAG = String.raw`(?:W/)?"[\x21\x23-\x7e]*"`
const ENTITY_TAGS = new RegExp(`^${ENTITY_TAG}(?:[ \\t]*,[ \\t]*${ENTITY_TAG})*$`)
const EACH_ENTITY_TAG = new RegExp(ENTITY_TAG, 'g')
const MERGE_PATCH = 'application/merge-patch+json'
/** A configuration has at most 32 KiB; white space and escapes can make its JSON text longer. */
const BODY_LIMIT = 256 * 1024

const config = { scope: 'memory', permission: 'admin' } as const
const Preconditions = Type.Object({
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
const Patch = Type.Unsafe<Record<string, unknown>>({
  title: 'BankConfigPatch',
  type: 'object',
  description: 'The members to change; null removes a member.',
  examples: [{ homeostasis: { recall_max_tokens: 2000 }, mission: null }],
})
const changeErrors = [CALLER_ERRORS, LIMIT_ERRORS, ['precondition_failed', 'conflict', 'not_supported']] as const
const TaggedAnswer = withHeaders(BankConfigAnswer, 'ETag')

export const bankConfigRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const { configurations } = app.memory

  app.get('/v1/banks/:bank_id/config', {
    config,
    schema: {
      operationId: 'getBankConfig',
      tags: ['banks'],
      summary: 'Get the configuration of a bank',
      description: 'Returns the bank\'s own configuration, the settings in force, and the origin of each value.',
      params: BankParams,
      response: answers({ 200: TaggedAnswer }, CALLER_ERRORS),
    },
  }, async ({ params, context }, reply) => tagged(reply, await configurations.get(params.bank_id, context)))

  app.put('/v1/banks/:bank_id/config', {
    config: { ...config, bodyBound: null, checkedAs: BankConfigurationSchema },
    bodyLimit: BODY_LIMIT,
    schema: {
      operationId: 'putBankConfig',
      tags: ['banks'],
      summary: 'Set the configuration of a bank',
      description: 'Replaces the configuration. A bank can set tighter limits than the server\'s file, never looser ' +
        'ones. The configuration takes effect at once on this replica, and within two seconds on every other. ' +
        '`retrieval` and `reflect` apply to requests on this bank, and to requests on several banks when all of them ' +
        'have the same values.',
      params: BankParams,
      headers: Preconditions,
      body: Type.Object(BankConfigurationSchema.properties, {
        additionalProperties: false,
        title: 'BankConfig',
        examples: [{ description: 'What Alice tells her assistant.', homeostasis: { recall_max_tokens: 2000 } }],
      }),
      response: answers({ 200: TaggedAnswer }, BODY_ERRORS, ...changeErrors),
    },
  }, async (request, reply) => {
    const { params, body, context } = request
    return tagged(reply, await configurations.put({ bank_id: params.bank_id, configuration: body }, context, {
      precondition: preconditionOf(request),
    }))
  })

  await app.register(patchRoute)

  app.delete('/v1/banks/:bank_id/config', {
    config,
    schema: {
      operationId: 'resetBankConfig',
      tags: ['banks'],
      summary: 'Reset the configuration of a bank',
      params: BankParams,
      headers: Preconditions,
      response: answers({ 200: TaggedAnswer }, ...changeErrors),
    },
  }, async (request, reply) => {
    const { params, context } = request
    return tagged(reply, await configurations.reset(params.bank_id, context, { precondition: preconditionOf(request) }))
  })

  app.get('/v1/banks/:bank_id/config/history', {
    config,
    schema: {
      operationId: 'getBankConfigHistory',
      tags: ['banks'],
      summary: 'List the latest changes of the configuration of a bank',
      params: BankParams,
      querystring: ConfigHistoryQuery,
      response: answers({ 200: BankConfigHistoryAnswer }, CALLER_ERRORS),
    },
  }, async ({ params, query, context }) => (
    await configurations.history({ bank_id: params.bank_id, ...query }, context)
  ))

  app.delete('/v1/banks/:bank_id', {
    config,
    schema: {
      operationId: 'deleteBank',
      tags: ['banks'],
      summary: 'Delete a bank',
      description: 'Deletes the memories of the bank, its configuration and the configuration history, in one ' +
        'transaction. A forget with `scope: all` keeps the configuration. The deletion counts as a forget. For a ' +
        'bank that does not exist, the counts are zero.',
      params: BankParams,
      response: answers({ 200: DeleteBankAnswer }, CALLER_ERRORS, LIMIT_ERRORS),
    },
  }, async ({ params, context }, reply) => (
    await configurations.remove(params.bank_id, context, { signal: disconnectSignal(reply) })
  ))
}

/** In a scope of its own, because only this route takes a merge patch: a PUT of one would remove what it keeps. */
const patchRoute: FastifyPluginAsyncTypebox = async (app) => {
  app.takeJson(MERGE_PATCH)

  app.patch('/v1/banks/:bank_id/config', {
    config: { ...config, bodyBound: null },
    bodyLimit: BODY_LIMIT,
    schema: {
      operationId: 'patchBankConfig',
      tags: ['banks'],
      summary: 'Change parts of the configuration of a bank',
      description: 'A merge patch (RFC 7396), as `application/merge-patch+json` or `application/json`.',
      params: BankParams,
      headers: Preconditions,
      body: { content: { [MERGE_PATCH]: { schema: Patch }, 'application/json': { schema: Patch } } },
      response: answers({ 200: TaggedAnswer }, BODY_ERRORS, ...changeErrors),
    },
  }, async (request, reply) => {
    const { params, body, context } = request
    return tagged(reply, await app.memory.configurations.patch({ bank_id: params.bank_id, patch: body }, context, {
      precondition: preconditionOf(request),
    }))
  })
}

function tagged (reply: FastifyReply, answer: BankConfigAnswer): BankConfigAnswer {
  reply.header('etag', answer.etag)
  return answer
}

/**
 * Reads If-Match and If-None-Match (RFC 9110, section 13.1); a weak or unknown tag matches no configuration.
 * @throws ServiceError invalid_request
 */
function preconditionOf ({ headers }: Pick<FastifyRequest, 'headers'>): Precondition | undefined {
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
