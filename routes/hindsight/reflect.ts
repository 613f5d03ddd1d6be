import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type, type Static } from 'typebox'
import { disconnectSignal } from '../../http/disconnect-signal.js'
import { invalidField } from '../../lib/errors/service-error.js'
import { strict, nullable, optionalOrUndefined, type ReflectAnswer } from '../../lib/memory/schemas.js'
import { MAX_QUERY_CHARACTERS, query } from '../../lib/memory/schemas/filters.js'
import { factOf, Fact } from './facts.js'
import { kindFilter, Kinds, tagFields, tagFilter } from './filters.js'
import { BANK, BankParams, routeConfig, unsupported, type HindsightOptions } from './route.js'
import { withoutUndefined } from '../../lib/validation/members.js'

const anything = Type.Optional(Type.Unknown())
const noExtra = Type.Optional(Type.Object({}))

const ReflectBody = strict({
  query,
  context: Type.Optional(Type.String({ maxLength: 8192 })),
  budget: Type.Optional(Type.Enum(['low', 'mid', 'high'])),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  include: Type.Optional(strict({ facts: noExtra, tool_calls: noExtra })),
  response_schema: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
  ...tagFields,
  fact_types: Type.Optional(Kinds),
  // There are no directives and no mental models, so options that select them have no effect.
  apply_all_directives: anything,
  exclude_mental_models: anything,
  exclude_mental_model_ids: anything,
})

const ReflectResult = Type.Object({
  text: Type.String(),
  based_on: optionalOrUndefined(Type.Object({
    memories: Type.Array(Type.Object({ ...Fact.properties })),
    mental_models: Type.Array(Type.Unknown()),
    directives: Type.Array(Type.Unknown()),
  })),
  structured_output: Type.Unsafe<Record<string, unknown> | null>({
    anyOf: [{ type: 'object', additionalProperties: true }, { type: 'null' }],
  }),
  usage: Type.Object({
    input_tokens: Type.Integer(), output_tokens: Type.Integer(), total_tokens: Type.Integer(),
  }),
  trace: nullable(),
})

export const reflectRoutes: FastifyPluginAsyncTypebox<HindsightOptions> = async (app, options) => {
  app.post(`${BANK}/reflect`, {
    config: routeConfig(options, 'read'),
    schema: { hide: true, params: BankParams, body: ReflectBody, response: { 200: ReflectResult } },
  }, async ({ params, body, context }, reply) => {
    if (body.include?.tool_calls !== undefined) {
      throw unsupported(
        'include.tool_calls', 'a reflect here is one recall and one answer, with no calls of tools to tell',
      )
    }
    const facts = body.include?.facts !== undefined
    const answer = await app.memory.reflect({
      bank_id: params.bank_id,
      query: questionOf(body),
      include_sources: facts && 'cited',
      ...withoutUndefined({ max_tokens: body.max_tokens, response_schema: body.response_schema }),
      also: { ...tagFilter(body), ...kindFilter(body.fact_types ?? []) },
    }, context, { signal: disconnectSignal(reply) })
    return resultOf(answer, facts)
  })
}

/** As in Hindsight, the context becomes part of the question. */
function questionOf ({ query: question, context }: Static<typeof ReflectBody>): string {
  if (context === undefined) return question
  const whole = `${question}\n\nAdditional context: ${context}`
  if (whole.length > MAX_QUERY_CHARACTERS) {
    throw invalidField('context', `query and context together must have at most ${MAX_QUERY_CHARACTERS} characters`)
  }
  return whole
}

function resultOf (
  { answer, sources, structured, usage }: ReflectAnswer, facts: boolean,
): Static<typeof ReflectResult> {
  return {
    text: answer,
    based_on: facts ? { memories: sources.map(factOf), mental_models: [], directives: [] } : undefined,
    structured_output: structured ?? null,
    usage: { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens, total_tokens: usage.tokens },
    trace: null,
  }
}
