import { createClient, createConfig, HindsightClient, HindsightError, sdk } from '@vectorize-io/hindsight-client'
import t from 'tap'
import { rejection } from '../../../test/helpers/rejection.js'
import { gateway } from './gateway.js'

const BANK = 'user:alice'
const ID = '0d0a7d9e-6f0e-4d55-9a0d-5a3c8a0e1f11'

type Call = (client: HindsightClient) => Promise<unknown>

/** Every method of the client that works, called in this order on one bank; its answer is checked. */
const WORKING: Record<string, { call: Call, answer: object | null }> = {
  getVersion: { call: (client) => client.getVersion(), answer: { api_version: '0.9.1' } },
  createBank: {
    call: (client) => client.createBank(BANK, { name: 'Alice', reflectMission: 'Be brief.' }),
    answer: { bank_id: BANK, name: 'Alice', mission: 'Be brief.' },
  },
  setMission: { call: (client) => client.setMission(BANK, 'Be kind.'), answer: { name: 'Alice', mission: 'Be kind.' } },
  getBankProfile: {
    call: (client) => client.getBankProfile(BANK),
    answer: {
      bank_id: BANK, name: 'Alice', mission: 'Be kind.', disposition: { skepticism: 3, literalism: 3, empathy: 3 },
    },
  },
  updateBankConfig: {
    call: (client) => client.updateBankConfig(BANK, { retainChunkSize: 500 }),
    answer: { overrides: { reflect_mission: 'Be kind.', retain_chunk_size: 500 } },
  },
  getBankConfig: {
    call: (client) => client.getBankConfig(BANK),
    answer: { bank_id: BANK, config: { retain_chunk_size: 500, enable_observations: false } },
  },
  retain: {
    call: (client) => client.retain(BANK, 'Alice drinks green tea.', { documentId: 'diary', tags: ['drinks'] }),
    answer: { success: true, bank_id: BANK, items_count: 1, async: false },
  },
  retainBatch: {
    call: (client) => client.retainBatch(BANK, [
      { content: 'Alice plays the cello.' }, { content: 'Alice lives in Lyon.' },
    ]),
    answer: { success: true, items_count: 2 },
  },
  recall: {
    call: (client) => client.recall(BANK, 'What does Alice drink?'),
    answer: { results: [{ text: 'Alice drinks green tea.', document_id: 'diary', tags: ['drinks'] }] },
  },
  reflect: { call: (client) => client.reflect(BANK, 'What does Alice drink?'), answer: { text: /green tea/ } },
  listMemories: { call: (client) => client.listMemories(BANK), answer: { total: 3, limit: 100, offset: 0 } },
  listDocuments: {
    call: (client) => client.listDocuments(BANK), answer: { total: 1, items: [{ id: 'diary', memory_unit_count: 1 }] },
  },
  getDocument: {
    call: (client) => client.getDocument(BANK, 'diary'),
    answer: { id: 'diary', original_text: 'Alice drinks green tea.', tags: ['drinks'] },
  },
  deleteDocument: { call: (client) => client.deleteDocument(BANK, 'diary'), answer: null },
  resetBankConfig: { call: (client) => client.resetBankConfig(BANK), answer: { overrides: {} } },
  deleteBank: { call: (client) => client.deleteBank(BANK), answer: null },
}

/** Every other method, with a part of the reason that its error gives. */
const REFUSED: Record<string, { call: Call, why: RegExp }> = {
  retainFiles: { call: (client) => client.retainFiles(BANK, [new Blob(['text'])]), why: /files are not converted/ },
  createDirective: { call: (client) => client.createDirective(BANK, 'tone', 'Be brief.'), why: /reflect_mission/ },
  listDirectives: { call: (client) => client.listDirectives(BANK, { tags: ['a'] }), why: /reflect_mission/ },
  getDirective: { call: (client) => client.getDirective(BANK, ID), why: /reflect_mission/ },
  updateDirective: { call: (client) => client.updateDirective(BANK, ID, { name: 'tone' }), why: /reflect_mission/ },
  deleteDirective: { call: (client) => client.deleteDirective(BANK, ID), why: /reflect_mission/ },
  createMentalModel: {
    call: (client) => client.createMentalModel(BANK, 'tea', 'Which tea?'), why: /in the background/,
  },
  listMentalModels: { call: (client) => client.listMentalModels(BANK), why: /in the background/ },
  getMentalModel: { call: (client) => client.getMentalModel(BANK, ID), why: /in the background/ },
  refreshMentalModel: { call: (client) => client.refreshMentalModel(BANK, ID), why: /in the background/ },
  dryRunRefreshMentalModel: { call: (client) => client.dryRunRefreshMentalModel(BANK, ID), why: /in the background/ },
  clearMentalModel: { call: (client) => client.clearMentalModel(BANK, ID), why: /in the background/ },
  updateMentalModel: {
    call: (client) => client.updateMentalModel(BANK, ID, { name: 'tea' }), why: /in the background/,
  },
  deleteMentalModel: { call: (client) => client.deleteMentalModel(BANK, ID), why: /in the background/ },
  getMentalModelHistory: { call: (client) => client.getMentalModelHistory(BANK, ID), why: /in the background/ },
  getKnowledgeBaseTree: { call: (client) => client.getKnowledgeBaseTree(BANK), why: /in the background/ },
  createKnowledgeFolder: { call: (client) => client.createKnowledgeFolder(BANK, 'teas'), why: /in the background/ },
  createKnowledgePage: {
    call: (client) => client.createKnowledgePage(BANK, 'tea', 'Which tea?'), why: /in the background/,
  },
  getKnowledgePage: { call: (client) => client.getKnowledgePage(BANK, ID), why: /in the background/ },
  searchKnowledgeBase: { call: (client) => client.searchKnowledgeBase(BANK, 'tea'), why: /in the background/ },
  updateKnowledgeNode: {
    call: (client) => client.updateKnowledgeNode(BANK, ID, { name: 'tea' }), why: /in the background/,
  },
  deleteKnowledgeNode: { call: (client) => client.deleteKnowledgeNode(BANK, ID), why: /in the background/ },
  exportKnowledgeBase: { call: (client) => client.exportKnowledgeBase(BANK), why: /in the background/ },
  updateDocument: {
    call: (client) => client.updateDocument(BANK, 'diary', { tags: ['a'] }), why: /retain the document again/,
  },
  exportDocuments: { call: (client) => client.exportDocuments(BANK), why: /\/v1\/banks\/\{bank_id\}\/export/ },
}

/** What the class has beside the methods of its API. */
const PRIVATE = new Set(['constructor', 'validateResponse'])

t.test('the client has these methods and no others', async (t) => {
  const methods = Object.getOwnPropertyNames(HindsightClient.prototype).filter((name) => !PRIVATE.has(name))
  t.equal(methods.length, 41)
  t.same(methods.sort(), [...Object.keys(WORKING), ...Object.keys(REFUSED)].sort())
})

t.test('every method with a counterpart works', async (t) => {
  const { client } = await gateway(t)
  for (const [name, { call, answer }] of Object.entries(WORKING)) {
    const given = await call(client)
    if (answer === null) t.equal(given, undefined, name)
    else t.match(given, answer, name)
  }
  t.match(await client.listMemories(BANK), { total: 0, items: [] }, 'the bank no longer exists')
})

t.test('every other method is refused with the reason', async (t) => {
  const { client } = await gateway(t)
  for (const [name, { call, why }] of Object.entries(REFUSED)) {
    const error = await rejection(Error, call(client))
    t.match(error.message, why, name)
    // The two that delete throw a plain error with the whole body.
    if (error instanceof HindsightError) t.equal(error.statusCode, 501, name)
    else t.match(error.message, /"code":"not_supported"/, name)
  }
})

/** Operations of the API that are the gateway's own, or that only answers lead to which are never given. */
const ELSEWHERE = new Set([
  'healthEndpointHealthGet', 'getReadiness', 'getLiveness', 'metricsEndpointMetricsGet', 'downloadFile',
])

t.test('every operation that the client exports works or is refused with the reason', async (t) => {
  const { url } = await gateway(t)
  const client = createClient(createConfig({ baseUrl: url }))
  const names = [
    'memory_id', 'entity_id', 'mental_model_id', 'page_id', 'node_id', 'directive_id', 'document_id', 'chunk_id',
    'operation_id', 'webhook_id',
  ]
  const path = { bank_id: BANK, ...Object.fromEntries(names.map((name) => [name, ID])) }
  const answers = new Map<number, number>()
  for (const [name, operation] of Object.entries(sdk)) {
    if (ELSEWHERE.has(name)) continue
    const call =
      operation as unknown as (options: object) => Promise<{ error?: { detail?: string }, response: Response }>
    const { error, response } = await call({ client, path })
    t.ok(response.status !== 404 || error?.detail === 'No such document', name)
    t.ok(response.status < 500 || response.status === 501, `${name}: ${response.status}`)
    answers.set(response.status, (answers.get(response.status) ?? 0) + 1)
  }
  t.ok(answers.get(501)! > 50, 'most are refused')
  t.equal(answers.get(200), 7, 'those that need no input work')
})

t.test('a document that does not exist is null, as the client promises', async (t) => {
  const { client } = await gateway(t)
  t.equal(await client.getDocument(BANK, 'none'), null)
})
