import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type, type Static } from 'typebox'
import { disconnectSignal } from '../../http/disconnect-signal.js'
import { invalidField } from '../../lib/errors/service-error.js'
import type { RequestContext } from '../../lib/identity/context.js'
import { strict, type BankConfigAnswer } from '../../lib/memory/schemas.js'
import { beginningOf } from '../../lib/validation/shorten.js'
import {
  configOf, exactPatch, MISSION, NEUTRAL, overridesOf, patchOf, RESET, type NamedPatch, type SentSetting,
} from './bank-settings.js'
import { BANK, BankParams, routeConfig, type HindsightOptions } from './route.js'
import { withSentNames } from './sent-names.js'

const trait = Type.Optional(Type.Number())
const Disposition = strict({ skepticism: trait, literalism: trait, empathy: trait })
const text = Type.Optional(Type.String())
const flag = Type.Optional(Type.Boolean())
const size = Type.Optional(Type.Integer())

const BankBody = strict({
  name: Type.Optional(Type.String({ maxLength: 1000 })),
  mission: text,
  background: text,
  disposition: Type.Optional(Disposition),
  disposition_skepticism: trait,
  disposition_literalism: trait,
  disposition_empathy: trait,
  reflect_mission: text,
  retain_mission: text,
  retain_extraction_mode: text,
  retain_custom_instructions: text,
  retain_chunk_size: size,
  retain_structured_chunk_size: size,
  enable_observations: flag,
  observations_mission: text,
  enable_temporal_retrieval: flag,
  enable_graph_retrieval: flag,
  enable_reranking: flag,
})

const ConfigBody = strict({ updates: Type.Unsafe<Record<string, unknown>>({ type: 'object' }) })

const Profile = Type.Object({
  bank_id: Type.String(),
  name: Type.String(),
  disposition: Type.Object({ skepticism: Type.Integer(), literalism: Type.Integer(), empathy: Type.Integer() }),
  mission: Type.String(),
})
const anyMap = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })
const Config = Type.Object({ bank_id: Type.String(), config: anyMap, overrides: anyMap })
const Deleted = Type.Object({ success: Type.Boolean(), message: Type.String(), deleted_count: Type.Integer() })

/** The configuration of a bank under Hindsight's names. All routes need `admin`, as in the gateway's own API. */
export const bankRoutes: FastifyPluginAsyncTypebox<HindsightOptions> = async (app, options) => {
  const { configurations } = app.memory
  const config = routeConfig(options, 'admin')
  const profile = { hide: true, params: BankParams, response: { 200: Profile } }
  const settings = { hide: true, params: BankParams, response: { 200: Config } }
  const hasReranker = () => app.memory.modelNames().reranker !== undefined
  /** A bank is created by its first memory, so a request without settings has no effect. */
  const apply = async (bankId: string, { patch, names }: NamedPatch, context: RequestContext) => (
    // The patch may remove a whole section, which is right only for the configuration that it is made for.
    await withSentNames(() => names, async () => (
      await configurations.update(bankId, (existing) => exactPatch(patch, existing), context)
    ))
  )
  const toConfig = (bankId: string, answer: BankConfigAnswer): Static<typeof Config> => (
    { bank_id: bankId, config: configOf(answer, hasReranker()), overrides: overridesOf(answer) }
  )

  app.put(BANK, { config, schema: { ...profile, body: BankBody } }, async ({ params, body, context }) => {
    const { bank_id: bankId } = params
    const { patch, names } = patchOf(settingsOf(body), hasReranker())
    const { name } = body
    const description = name === undefined ? {} : { description: name === '' ? null : name }
    const change = { patch: { ...patch, ...description }, names: new Map([...names, ['description', 'name']]) }
    return profileOf(bankId, await apply(bankId, change, context))
  })

  app.get(`${BANK}/profile`, { config, schema: profile }, async ({ params: { bank_id: bankId }, context }) => (
    profileOf(bankId, await configurations.get(bankId, context))
  ))

  app.get(`${BANK}/config`, { config, schema: settings }, async ({ params: { bank_id: bankId }, context }) => (
    toConfig(bankId, await configurations.get(bankId, context))
  ))

  app.patch(`${BANK}/config`, {
    config, schema: { ...settings, body: ConfigBody },
  }, async ({ params, body, context }) => {
    const { bank_id: bankId } = params
    const sent = Object.entries(body.updates).map(([name, value]) => (
      { name, value, field: `updates.${beginningOf(name, 100)}` }
    ))
    const change = patchOf(sent, hasReranker())
    if (Object.keys(body.updates).length === 0) throw invalidField('updates', 'must name what is to change')
    return toConfig(bankId, await apply(bankId, change, context))
  })

  // Grants and limits that were set through the gateway's own API stay, because Hindsight has none.
  app.delete(`${BANK}/config`, { config, schema: settings }, async ({ params: { bank_id: bankId }, context }) => (
    toConfig(bankId, await apply(bankId, { patch: RESET, names: new Map() }, context))
  ))

  app.delete(BANK, {
    config, schema: { hide: true, params: BankParams, response: { 200: Deleted } },
  }, async ({ params: { bank_id: bankId }, context }, reply) => {
    const { deleted_count: count } = await configurations.remove(bankId, context, { signal: disconnectSignal(reply) })
    return { success: true, message: `Bank '${bankId}' deleted`, deleted_count: count }
  })
}

/** The settings in a body. If it has several names of one setting, the last of them in the list here counts. */
function settingsOf (body: Static<typeof BankBody>): Iterable<SentSetting> {
  const { name: _, mission, background, disposition = {}, reflect_mission: newest, ...rest } = body
  const sent: SentSetting[] = [
    ...Object.entries(disposition).map(([trait, value]) => (
      { name: `disposition_${trait}`, value, field: `disposition.${trait}` }
    )),
    ...Object.entries(rest).map(([name, value]) => ({ name, value, field: name })),
    ...Object.entries({ background, mission, [MISSION]: newest }).map(([field, value]) => (
      { name: MISSION, value, field }
    )),
  ]
  return new Map(sent.filter(({ value }) => value !== undefined).map((setting) => [setting.name, setting])).values()
}

function profileOf (bankId: string, { effective }: BankConfigAnswer): Static<typeof Profile> {
  const { description, mission } = effective
  return {
    bank_id: bankId,
    name: description ?? bankId,
    disposition: { skepticism: NEUTRAL, literalism: NEUTRAL, empathy: NEUTRAL },
    mission: mission ?? '',
  }
}
