import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import {
  MemoryGatewayError, type BankConfig, type BankConfigAnswer, type MemoryGatewayClient,
} from 'memory-gateway-client'
import { Type, type Static } from 'typebox'
import {
  BANK, clientFor, invalid, strict, unsupported, withoutUndefined, withSentNames, type HindsightOptions,
} from './gateway.js'

const trait = Type.Optional(Type.Number())
const text = Type.Optional(Type.String())
const flag = Type.Optional(Type.Boolean())
const size = Type.Optional(Type.Integer())

const BankBody = strict({
  name: text,
  mission: text,
  background: text,
  disposition: Type.Optional(strict({ skepticism: trait, literalism: trait, empathy: trait })),
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
const ConfigBody = strict({ updates: Type.Record(Type.String(), Type.Unknown()) })

/** The middle of the scale of each disposition trait. Answers here have no disposition, so it is the only value. */
const NEUTRAL = 3
const MISSION = 'reflect_mission'
/** Prefix of Hindsight's environment variables, whose names its API accepts for settings too. */
const VARIABLE = 'HINDSIGHT_API_'
/** A change that others overtake is made again so often. */
const ATTEMPTS = 10

/** What changes in the gateway's own configuration of a bank: null resets a setting. */
interface Change {
  description?: string | null
  mission?: string | null
  chunk?: number | null
  weight?: 0 | null
}

/** Maps a setting to the gateway's own. @param value null resets it */
type Mapping = (value: unknown, field: string) => Change

/** For a setting that has only these values here; any other is refused. */
const fixed = (values: readonly unknown[], why: string): Mapping => (value, field) => {
  if (value !== null && !values.includes(value)) throw unsupported(field, why)
  return {}
}

const NOT_EXTRACTED = 'content is stored and searched as it is here, and nothing is extracted from it'
const NO_OBSERVATIONS = 'no observations are made of memories here'
const NO_TRAITS = `a character of answers is not adjustable here, only ${NEUTRAL} (neutral) is; say it in ${MISSION}`

const MAPPINGS: Readonly<Record<string, Mapping>> = {
  [MISSION]: (value, field) => {
    if (value !== null && typeof value !== 'string') throw invalid(field, 'must be a text')
    return { mission: value === '' ? null : value }
  },
  retain_chunk_size: (value, field) => {
    if (value !== null && typeof value !== 'number') throw invalid(field, 'must be a number')
    return { chunk: value }
  },
  enable_reranking: (value, field) => {
    if (value !== null && typeof value !== 'boolean') throw invalid(field, 'must be true or false')
    return { weight: value === false ? 0 : null }
  },
  retain_extraction_mode: fixed(['chunks', 'verbatim'], NOT_EXTRACTED),
  retain_mission: fixed([''], NOT_EXTRACTED),
  retain_custom_instructions: fixed([''], NOT_EXTRACTED),
  retain_structured_chunk_size: fixed([], 'content is split by its length alone here; use retain_chunk_size'),
  enable_observations: fixed([false], NO_OBSERVATIONS),
  observations_mission: fixed([''], NO_OBSERVATIONS),
  enable_temporal_retrieval: fixed([true], 'the times that a query names always count here'),
  enable_graph_retrieval: fixed([false], 'there are no entities here whose links could be followed'),
  disposition_skepticism: fixed([NEUTRAL], NO_TRAITS),
  disposition_literalism: fixed([NEUTRAL], NO_TRAITS),
  disposition_empathy: fixed([NEUTRAL], NO_TRAITS),
}

/** The gateway's own names of what can change. */
const OWN_NAMES: Readonly<Record<keyof Change, string>> = {
  description: 'description',
  mission: 'mission',
  chunk: 'retrieval.chunk_max_characters',
  weight: 'retrieval.rerank.weight',
}

/** A setting as the caller sent it; errors call it `field`. */
interface Sent { name: string, value: unknown, field: string }

interface Place { Params: { bank_id: string } }

/** The configuration of a bank under Hindsight's names. All routes need `admin`, as in the gateway's own API. */
export function bankRoutes (app: FastifyInstance, options: HindsightOptions): void {
  app.put<Place & { Body: Static<typeof BankBody> }>(BANK, { schema: { body: BankBody } }, async (request, reply) => {
    const { params: { bank_id: bankId }, body } = request
    const { change, names } = changeOf(settingsOf(body))
    if (body.name !== undefined) {
      change.description = body.name === '' ? null : body.name
      names.set('description', 'name')
    }
    return profileOf(bankId, await apply(clientFor(request, reply, options), bankId, change, names))
  })

  app.get<Place>(`${BANK}/profile`, async (request, reply) => (
    profileOf(request.params.bank_id, await clientFor(request, reply, options).getBankConfig(request.params))
  ))

  app.get<Place>(`${BANK}/config`, async (request, reply) => (
    configOf(request.params.bank_id, await clientFor(request, reply, options).getBankConfig(request.params))
  ))

  app.patch<Place & { Body: Static<typeof ConfigBody> }>(`${BANK}/config`, {
    schema: { body: ConfigBody },
  }, async (request, reply) => {
    const { params: { bank_id: bankId }, body: { updates } } = request
    if (Object.keys(updates).length === 0) throw invalid('updates', 'must name what is to change')
    const sent = Object.entries(updates).map(([name, value]) => ({ name, value, field: `updates.${name}` }))
    const { change, names } = changeOf(sent)
    return configOf(bankId, await apply(clientFor(request, reply, options), bankId, change, names))
  })

  // Grants and limits that were set through the gateway's own API stay, because Hindsight has none.
  app.delete<Place>(`${BANK}/config`, async (request, reply) => {
    const { bank_id: bankId } = request.params
    const reset: Change = { mission: null, chunk: null, weight: null }
    return configOf(bankId, await apply(clientFor(request, reply, options), bankId, reset))
  })

  app.delete<Place>(BANK, async (request, reply) => {
    const { bank_id: bankId } = request.params
    const { deleted_count: count } = await clientFor(request, reply, options).deleteBank(request.params)
    return { success: true, message: `Bank '${bankId}' deleted`, deleted_count: count }
  })
}

/** The settings in a body. If it has several names of one setting, the last of them in the list here counts. */
function settingsOf (body: Static<typeof BankBody>): Iterable<Sent> {
  const { name: _, mission, background, disposition = {}, reflect_mission: newest, ...rest } = body
  const sent: Sent[] = [
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

function changeOf (settings: Iterable<Sent>): { change: Change, names: Map<string, string> } {
  const change: Change = {}
  const names = new Map<string, string>()
  for (const { name: given, value, field } of settings) {
    const name = given.startsWith(VARIABLE) ? given.slice(VARIABLE.length).toLowerCase() : given
    const mapping = Object.hasOwn(MAPPINGS, name) ? MAPPINGS[name] : undefined
    if (mapping === undefined) {
      throw invalid(field, `is not a supported setting; supported are ${Object.keys(MAPPINGS).join(', ')}`)
    }
    const part = mapping(value, field)
    Object.assign(change, part)
    for (const [key, own] of Object.entries(OWN_NAMES)) if (key in part) names.set(own, field)
  }
  return { change, names }
}

/** Changes the configuration that a bank has at the time. One that would stay as it is is not written. */
async function apply (
  client: MemoryGatewayClient, bankId: string, change: Change, names: ReadonlyMap<string, string> = new Map(),
): Promise<BankConfigAnswer> {
  for (let attempt = 1; ; attempt++) {
    const current = await client.getBankConfig({ bank_id: bankId })
    const config = changed(current.config, change)
    if (isDeepStrictEqual(config, current.config)) return current
    const place = { bank_id: bankId, if_match: current.etag }
    try {
      return await withSentNames(names, Object.keys(config).length === 0
        ? client.resetBankConfig(place)
        : client.putBankConfig({ ...place, config }))
    } catch (error) {
      if (!(error instanceof MemoryGatewayError) || error.status !== 412 || attempt === ATTEMPTS) throw error
    }
  }
}

/** The configuration with a change, without sections that are empty after it. */
function changed ({ description, mission, retrieval = {}, ...rest }: BankConfig, change: Change): BankConfig {
  const { chunk_max_characters: chunk, rerank = {}, ...others } = retrieval
  const after = <T>(wanted: T | null | undefined, present: T | undefined) => (
    wanted === undefined ? present : wanted ?? undefined
  )
  const reranking = withoutUndefined({ ...rerank, weight: after(change.weight, rerank.weight) })
  const retrieving = withoutUndefined({
    ...others,
    chunk_max_characters: after(change.chunk, chunk),
    rerank: Object.keys(reranking).length === 0 ? undefined : reranking,
  })
  return withoutUndefined({
    ...rest,
    description: after(change.description, description),
    mission: after(change.mission, mission),
    retrieval: Object.keys(retrieving).length === 0 ? undefined : retrieving,
  })
}

function profileOf (bankId: string, { effective: { description, mission } }: BankConfigAnswer) {
  return {
    bank_id: bankId,
    name: description ?? bankId,
    disposition: { skepticism: NEUTRAL, literalism: NEUTRAL, empathy: NEUTRAL },
    mission: mission ?? '',
  }
}

/** The settings in force for the bank, and those of the bank itself that Hindsight has too. */
function configOf (bankId: string, { effective, config: own }: BankConfigAnswer) {
  const weight = own.retrieval?.rerank?.weight
  return {
    bank_id: bankId,
    config: {
      [MISSION]: effective.mission ?? null,
      retain_chunk_size: effective.retrieval?.chunk_max_characters ?? null,
      retain_extraction_mode: 'chunks',
      enable_observations: false,
      enable_temporal_retrieval: true,
      enable_graph_retrieval: false,
      enable_reranking: effective.retrieval?.rerank?.weight !== 0,
      disposition_skepticism: NEUTRAL,
      disposition_literalism: NEUTRAL,
      disposition_empathy: NEUTRAL,
    },
    overrides: withoutUndefined({
      [MISSION]: own.mission,
      retain_chunk_size: own.retrieval?.chunk_max_characters,
      enable_reranking: weight === undefined ? undefined : weight > 0,
    }),
  }
}
