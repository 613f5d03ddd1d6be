import type { AddressInfo } from 'node:net'
import t from 'tap'
import { AccessControl } from '../../lib/access/access-control.js'
import { loadConfig } from '../../lib/config/load.js'
import type { RetainBatchRequest, RetainRequest } from '../../lib/memory/schemas.js'
import { createMemoryService } from '../../lib/memory/service.js'
import { JsonClient } from '../../bench/json-client.js'
import { readConversations, type Conversation, type Turn } from '../../bench/recall/conversation.js'
import { withoutAttributes, type Attribute } from '../../bench/recall/attributes.js'
import { measure } from '../../bench/recall/measure.js'
import { inProcess, overHttp, type MeasuredService } from '../../bench/recall/measured-service.js'
import { testApp } from '../helpers/app.js'

const AT = Date.UTC(2024, 0, 1)
const turn = (
  id: string, contents: string[], role: string | undefined = 'user',
): Turn => ({ id, contents, role, occurredAt: AT })
const conversation = (fields: Partial<Conversation> = {}): Conversation => ({
  id: '100K/1',
  format: 'longmemeval',
  hasDocuments: true,
  depth: 100,
  sessions: [
    { id: 's1', turns: [turn('a', ['Tea it is.']), turn('b', ['A long', 'green tea.'], 'assistant')] },
    { id: 's2', turns: [turn('c', ['Rain.'])] },
  ],
  questions: [
    { index: 3, text: 'Which tea?', category: 'drinks', evidence: ['b', 'a'], sessions: ['s1'], askedAt: AT },
  ],
  ...fields,
})

await t.test('the library is measured as the gateway would be', async (t) => {
  const config = loadConfig({ SERVICES_CONFIG_PATH: 'bench.yaml' }, { readFile: () => '{}' })
  const service = await createMemoryService(config, new AccessControl(config.settings.access))
  t.teardown(async () => { await service.close() })
  const seen: string[] = []
  const [first, second] = await measure(inProcess(service), [conversation()], 'test-', [
    () => { seen.push('first') }, () => { seen.push('second') },
  ])
  t.strictSame(seen, ['first', 'second'], 'each arrangement is made once, over the same memories')
  t.match(first, { turns: 3, repeats: 0 })
  t.equal(second?.retainMs.length, 1, 'one batch')
  const [outcome] = first!.outcomes
  t.strictSame(
    [outcome?.conversation, outcome?.question, outcome?.category, outcome?.roles],
    ['100K/1', 3, 'drinks', ['assistant', 'user']],
  )
  t.strictSame(new Set(outcome?.ranks), new Set([1, 2]), 'the long turn counts with its best part')
  t.strictSame([outcome?.sessionRanks, outcome?.sessionScoreRanks], [[1], [1]])
  t.strictSame(second?.outcomes, first?.outcomes)
  const { memory_count: left } = await service.banks.statistics('test-100K-1', { tenantId: null })
  t.equal(left, 0, 'the bank is emptied')
})

/** Accepts every request and finds nothing. */
function recorder (sent: {
  retains: RetainRequest[]
  batches: RetainBatchRequest[]
  recalls: Array<Record<string, unknown>>
  forgotten: string[]
}): MeasuredService {
  let count = 0
  const stored = (bank: string) => ({
    stored: true, memory_id: String(count++), chunk_count: 1, deduplicated: false, bank_id: bank,
  })
  return {
    retain: async (request) => {
      sent.retains.push(request)
      return { answer: stored(request.bank_id), durationMs: 1 }
    },
    retainBatch: async (request) => {
      sent.batches.push(request)
      return { answer: { results: request.items.map(() => stored(request.bank_id)) }, durationMs: 1 }
    },
    recall: async (request) => {
      sent.recalls.push({ ...request })
      return { answer: { hits: [], total_available: 0, truncated: false, usage: { tokens: 0 } }, durationMs: 1 }
    },
    statistics: async () => ({}),
    forgetAll: async (bank) => { sent.forgotten.push(bank) },
  }
}
const nothing = () => ({ retains: [], batches: [], recalls: [], forgotten: [] })

await t.test('a batch holds at most 200 turns and 500,000 characters, in order', async (t) => {
  const sent: Parameters<typeof recorder>[0] = nothing()
  const turns = Array.from({ length: 250 }, (_, index) => turn(`t${index}`, [
    index < 210 ? `turn ${index}` : 'x'.repeat(40_000),
  ]))
  await measure(recorder(sent), [conversation({ sessions: [{ id: 's1', turns }], questions: [] })], 'test-')
  t.strictSame(sent.batches.map(({ items }) => items.length), [200, 22, 12, 12, 4])
  t.strictSame(sent.batches[0]?.items[7], {
    content: 'turn 7', document_id: 's1', occurred_at: '2024-01-01T00:00:00.000Z', metadata: { speaker: 'user' },
  })
})

await t.test('other formats are retained turn by turn', async (t) => {
  const sent: Parameters<typeof recorder>[0] = nothing()
  const [measurement] = await measure(recorder(sent), [conversation({ format: 'beam', depth: 25 })], 'test-')
  t.strictSame(
    sent.retains.map(({ bank_id: bank, content }) => [bank, content]),
    ['Tea it is.', 'A long', 'green tea.', 'Rain.'].map((content) => ['test-100K-1', content]),
  )
  t.strictSame(measurement?.outcomes[0]?.ranks, [Infinity, Infinity])
  t.equal(sent.recalls[0]?.['max_results'], 25)
  const facts = nothing()
  await measure(
    recorder(facts),
    [
      conversation({
        format: 'facts',
        hasDocuments: false,
        sessions: [{ id: 'F1', turns: [{ ...turn('F1', ['Rain.']), role: undefined, occurredAt: undefined }] }],
        questions: [],
      }),
    ],
    'test-',
  )
  t.strictSame(facts.retains, [{ bank_id: 'test-100K-1', content: 'Rain.' }])
})

await t.test('memories are retained without the attributes that are left out', async (t) => {
  const sentWithout = async (...omitted: Attribute[]) => {
    const sent: Parameters<typeof recorder>[0] = nothing()
    const sessions = [{ id: 's1', turns: [turn('a', ['Rain.'])] }]
    await measure(recorder(sent), withoutAttributes([conversation({ format: 'beam', sessions })], omitted), 'test-')
    return sent.retains[0]
  }
  const occurredAt = '2024-01-01T00:00:00.000Z'
  const memory = { bank_id: 'test-100K-1', content: 'Rain.' }
  t.strictSame(await sentWithout('speaker'), { ...memory, document_id: 's1', occurred_at: occurredAt })
  t.strictSame(await sentWithout('time', 'document'), { ...memory, metadata: { speaker: 'user' } })
  t.strictSame(await sentWithout('speaker', 'time', 'document'), memory)
})

await t.test('a question is asked at its date, where the data has one', async (t) => {
  const { app } = await testApp(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const client = new JsonClient(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  t.teardown(() => { client.close() })
  const question = { question: 'Which fence did you paint two weeks ago?', category: 2 }
  const conversations = readConversations(JSON.stringify([{
    sample_id: 'one',
    conversation: {
      speaker_a: 'Ann',
      speaker_b: 'Bo',
      session_1: [{ speaker: 'Ann', dia_id: 'D1:1', text: 'I painted the north fence.' }],
      session_1_date_time: '9:00 am on 16 February, 2024',
      session_2: [{ speaker: 'Ann', dia_id: 'D2:1', text: 'I painted the south fence.' }],
      session_2_date_time: '9:00 am on 10 August, 2024',
    },
    qa: [
      { ...question, evidence: ['D1:1'], question_date: '2024/03/01 (Fri) 12:00' },
      { ...question, evidence: ['D2:1'], question_date: '1:00 pm on 24 August, 2024' },
      { ...question, question: 'Which fence did you paint?', evidence: ['D1:1', 'D2:1'] },
    ],
  }]), 'data.json')
  const [measurement] = await measure(overHttp(client), conversations, 'bench-')
  t.strictSame(measurement?.outcomes.map(({ ranks }) => ranks), [[1], [1], [1, 2]])
})

await t.test('the bank is emptied also after an error', async (t) => {
  const sent: Parameters<typeof recorder>[0] = nothing()
  const service = { ...recorder(sent), recall: async () => { throw new Error('down') } }
  await t.rejects(measure(service, [conversation()], 'test-'), { message: 'down' })
  t.strictSame(sent.forgotten, ['test-100K-1'])
})
