import { HindsightError, type HindsightClient } from '@vectorize-io/hindsight-client'
import t from 'tap'
import { InMemoryVectorStore } from '../../../lib/stores/in-memory/store.js'
import { rejection } from '../../../test/helpers/rejection.js'
import { gateway } from './gateway.js'

type Settings = Parameters<HindsightClient['updateBankConfig']>[1]

t.test('settings are those of the gateway\'s own API under other names', async (t) => {
  const { client, get, inject } = await gateway(t)
  await inject({
    method: 'PUT',
    url: '/v1/banks/home/config',
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ homeostasis: { recall_max_tokens: 2000 }, retrieval: { diversity: 0.5 } }),
  })
  const own = async () => (await get('/v1/banks/home/config')).json<{ config: unknown }>().config
  await client.createBank('home', {
    name: 'Home', background: 'old', mission: 'newer', reflectMission: 'newest', retainChunkSize: 800,
  })
  t.same(await own(), {
    description: 'Home',
    mission: 'newest',
    homeostasis: { recall_max_tokens: 2000 },
    retrieval: {
      diversity: 0.5, chunk_max_characters: 800,
    },
  })
  t.same((await client.getBankConfig('home')).overrides, { reflect_mission: 'newest', retain_chunk_size: 800 })
  await client.createBank('home', { mission: 'of the older name' })
  t.match(await client.getBankProfile('home'), { name: 'Home', mission: 'of the older name' })
  t.same((await client.resetBankConfig('home')).overrides, {})
  t.same(
    await own(), { description: 'Home', homeostasis: { recall_max_tokens: 2000 }, retrieval: { diversity: 0.5 } },
    'settings without a name in Hindsight stay',
  )
  t.match(await client.setMission('home', ''), { mission: '' })
})

t.test('a change that another overtakes is applied to the configuration of the other', async (t) => {
  const store = new InMemoryVectorStore()
  const write = store.bankConfigs.write.bind(store.bankConfigs)
  const { client, get } = await gateway(t, {}, { store })
  await client.updateBankConfig('home', { retainChunkSize: 1000 })
  let overtaking = 2
  const document = JSON.stringify({ retrieval: { diversity: 0.5, chunk_max_characters: 900 } })
  store.bankConfigs.write = async (key, change) => {
    if (overtaking-- > 0) await write(key, { document, updatedAt: change.updatedAt, updatedBy: null })
    return await write(key, change)
  }
  t.same((await client.resetBankConfig('home')).overrides, {})
  t.match((await get('/v1/banks/home/config')).json(), { config: { retrieval: { diversity: 0.5 } } })
  overtaking = 100
  const error = await rejection(HindsightError, client.updateBankConfig('home', { retainChunkSize: 500 }))
  t.equal(error.statusCode, 409)
})

t.test('a bank that sets nothing has no configuration', async (t) => {
  const { client, get } = await gateway(t)
  t.same(await client.createBank('home'), {
    bank_id: 'home', name: 'home', disposition: { skepticism: 3, literalism: 3, empathy: 3 }, mission: '',
  })
  await client.updateBankConfig('home', { retainChunkSize: 500 })
  await client.resetBankConfig('home')
  t.match((await get('/v1/banks/home/config')).json(), { config: {} })
})

t.test('a setting at its fixed value is accepted, and any other value is refused', async (t) => {
  const { client, get } = await gateway(t)
  const taken: Settings = {
    retainExtractionMode: 'chunks',
    enableObservations: false,
    enableGraphRetrieval: false,
    enableTemporalRetrieval: true,
    dispositionSkepticism: 3,
    dispositionLiteralism: 3,
    dispositionEmpathy: 3,
  }
  t.same((await client.updateBankConfig('home', taken)).overrides, {})
  t.match(
    await client.createBank('home', { disposition: { skepticism: 3, literalism: 3, empathy: 3 } }), { bank_id: 'home' },
  )
  const refused: Settings[] = [
    { retainMission: 'Only names.' }, { retainExtractionMode: 'concise' }, { retainCustomInstructions: 'x' },
    { retainStructuredChunkSize: 100 },
    { enableObservations: true }, { observationsMission: 'x' }, { enableTemporalRetrieval: false },
    { enableGraphRetrieval: true },
    { dispositionSkepticism: 5 }, { dispositionLiteralism: 1 }, { dispositionEmpathy: 4 },
  ]
  for (const settings of refused) {
    const name = Object.keys(settings).join()
    const field = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const error = await rejection(HindsightError, client.updateBankConfig('home', { reflectMission: 'x', ...settings }))
    t.match(error, { statusCode: 501, details: new RegExp(`^updates\\.${field}: `) }, name)
  }
  t.match(
    await rejection(HindsightError, client.createBank('home', {
      disposition: { skepticism: 1, literalism: 3, empathy: 3 },
    })),
    { statusCode: 501, details: /^disposition\.skepticism: / },
  )
  t.match((await get('/v1/banks/home/config')).json(), { config: {} }, 'no part of a refused change is stored')
})

t.test('names of variables are accepted, and unknown names and wrong values are named', async (t) => {
  const { hindsight } = await gateway(t)
  const patch = async (updates: Record<string, unknown>) => {
    const response = await hindsight.inject({
      method: 'PATCH',
      url: '/v1/default/banks/home/config',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ updates }),
    })
    return [response.statusCode, response.json<{ detail?: string, overrides?: unknown }>()] as const
  }
  t.match(await patch({ HINDSIGHT_API_RETAIN_CHUNK_SIZE: 700 }), [200, { overrides: { retain_chunk_size: 700 } }])
  t.match(await patch({ retain_chunk_size: null, retain_mission: null }), [200, { overrides: {} }])
  t.match(await patch({ llm_model: 'x' }), [
    400, { detail: /^updates\.llm_model: is not a supported setting; supported are reflect_mission, / },
  ])
  t.match(await patch({ constructor: 'x' }), [400, { detail: /^updates\.constructor: / }])
  t.match(await patch({ reflect_mission: 5 }), [400, { detail: 'updates.reflect_mission: must be a text' }])
  t.match(await patch({ retain_chunk_size: 'x' }), [400, { detail: 'updates.retain_chunk_size: must be a number' }])
  t.match(await patch({ enable_reranking: 'x' }), [400, { detail: 'updates.enable_reranking: must be true or false' }])
  t.match(await patch({}), [400, { detail: 'updates: must name what is to change' }])
})

t.test('a value that the gateway refuses is refused under the name that the caller sent', async (t) => {
  const { client, hindsight } = await gateway(t)
  const refusal = async (method: 'PUT' | 'PATCH', path: string, body: object) => {
    const response = await hindsight.inject({
      method,
      url: `/v1/default/banks/home${path}`,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    })
    const { detail, errors = [] } = response.json<{ detail: string, errors?: Array<{ field: string }> }>()
    t.equal(response.statusCode, 400)
    t.notMatch(detail, /retrieval|chunk_max_characters/)
    return errors.map(({ field }) => field)
  }
  const long = 'x'.repeat(4001)
  for (const sent of [
    { retain_chunk_size: 1 }, { HINDSIGHT_API_RETAIN_CHUNK_SIZE: 60_000 }, { retain_chunk_size: 200.5 },
    { reflect_mission: long }, { HINDSIGHT_API_REFLECT_MISSION: long }, { retain_chunk_size: 1, reflect_mission: long },
  ]) {
    const fields = await refusal('PATCH', '/config', { updates: { ...sent, enable_observations: false } })
    t.same(fields.sort(), Object.keys(sent).map((name) => `updates.${name}`).sort())
  }
  for (const sent of [
    { retain_chunk_size: 1 }, { reflect_mission: long }, { mission: long }, { background: long },
  ]) {
    t.same(await refusal('PUT', '', { name: 'Home', ...sent }), Object.keys(sent))
  }
  t.same(await refusal('PUT', '', { background: 'old', mission: long }), ['mission'], 'the newer name counts')
  t.match(await rejection(HindsightError, client.updateBankConfig('home', { retainChunkSize: 1 })), {
    statusCode: 400, details: /^updates\.retain_chunk_size: must be an integer from 200 to 50000$/,
  })
  t.match(await rejection(HindsightError, client.createBank('home', { retainChunkSize: 1 })), {
    statusCode: 400, details: /^retain_chunk_size: must be an integer from 200 to 50000$/,
  })
  t.same((await client.getBankConfig('home')).overrides, {})
})

t.test('reranking is switched off and on if there is a reranker', async (t) => {
  const { client } = await gateway(t, {}, { reranker: { rerank: async (_query, texts) => texts.map(() => 1) } })
  t.match((await client.getBankConfig('home')).config, { enable_reranking: true })
  t.match(await client.updateBankConfig('home', { enableReranking: false }), {
    config: { enable_reranking: false }, overrides: { enable_reranking: false },
  })
  t.match(await client.updateBankConfig('home', { enableReranking: true }), {
    config: { enable_reranking: true }, overrides: {},
  })
})
