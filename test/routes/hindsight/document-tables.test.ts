import t from 'tap'
import { InMemoryVectorStore } from '../../../lib/stores/in-memory/store.js'
import type { ListRequest, Memory } from '../../../lib/stores/vector-store.js'
import type { BankKey } from '../../../lib/identity/context.js'
import { gateway, type Gateway } from './gateway.js'

const DOCUMENTS = 400
const TAGS = 100

type Line = (index: number) => object

async function fill (inject: Gateway['inject'], bankId: string, count: number, line: Line): Promise<void> {
  for (let start = 0; start < count; start += 400) {
    const indexes = Array.from({ length: Math.min(400, count - start) }, (_, at) => start + at)
    const lines = indexes.map((index) => JSON.stringify({ text: `Note ${index}`, ...line(index) }))
    const response = await inject({
      method: 'POST',
      url: `/v1/banks/${bankId}/import`,
      headers: { 'content-type': 'application/x-ndjson' },
      payload: [JSON.stringify({ format: 'memory-gateway-export', version: 1 }), ...lines].join('\n'),
    })
    t.equal(response.statusCode, 200)
  }
}

t.test('a table of documents has the tags of each', async (t) => {
  const { inject } = await gateway(t, { file: { bounds: { answer_bytes: 10_485_760 } } })
  await fill(inject, 'home', 10 * DOCUMENTS, (index) => ({
    document_id: `d${Math.floor(index / 10)}`,
    tags: Array.from({ length: TAGS }, (_, tag) => `t${index % 10}-${tag}`),
  }))
  const whole = await inject({ url: '/v1/default/banks/home/documents?limit=1000' })
  t.match(whole.json(), { total: DOCUMENTS })
  t.equal(whole.json().items[7].tags.length, 1000)
})

t.test('one long table of documents is read at a time, and short ones beside it', async (t) => {
  const read: string[] = []
  class SlowStore extends InMemoryVectorStore {
    override async list (key: BankKey, request: ListRequest): Promise<Memory[]> {
      read.push(key.bankId)
      await new Promise((resolve) => { setImmediate(resolve) })
      return await super.list(key, request)
    }
  }
  const { inject } = await gateway(t, {}, { store: new SlowStore() })
  for (const bankId of ['a', 'b']) await fill(inject, bankId, 1500, () => ({ document_id: 'd' }))
  await fill(inject, 'short', 10, () => ({ document_id: 'd' }))
  const tables = await Promise.all(['a', 'b', 'short'].map(async (bankId) => (
    (await inject({ url: `/v1/default/banks/${bankId}/documents` })).json().items[0].memory_unit_count
  )))
  t.same(tables, [1500, 1500, 10])
  // The first thousand memories of each are read in any order.
  const last = read.filter((bankId, at) => read.slice(0, at).filter((other) => other === bankId).length >= 5)
  t.same(last, [...last].sort((one, other) => last.indexOf(one) - last.indexOf(other)))
  t.equal(last.length, 6)
})
