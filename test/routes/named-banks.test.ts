import t from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp } from '../helpers/app.js'
import { connectMcp, refusalOf } from '../helpers/mcp.js'
import { as, refused } from './support.js'

const BANKS = Array.from({ length: 1000 }, (_, index) => `bank-${index}`)
const STRANGER = as('user:stranger')

t.test('a list of banks is not looked up where a request takes one bank, or when it is too long', async (t) => {
  const store = new InMemoryVectorStore()
  const read: string[] = []
  const original = store.bankConfigs.read.bind(store.bankConfigs)
  store.bankConfigs.read = async (banks) => {
    read.push(...banks.map(({ bankId }) => bankId))
    return await original(banks)
  }
  const file: FileConfig = { access_control: { enabled: true, default_policy: 'deny' } }
  const { app, post } = await testApp(t, { file }, { store })
  const client = await connectMcp(t, app, { headers: STRANGER })
  const bodies: Record<string, object> = {
    retain: { content: 'x' },
    'retain/batch': { items: [{ content: 'x' }] },
    forget: { scope: 'bank' },
    recall: { query: 'x' },
    reflect: { query: 'x' },
  }
  for (const [path, body] of Object.entries(bodies)) {
    refused(t, await post(`/v1/${path}`, { ...body, banks: BANKS }, STRANGER), 400, 'invalid_request')
    if (path === 'retain/batch') continue
    const result = await client.callTool({ name: path, arguments: { ...body, banks: BANKS } })
    t.match(refusalOf(result), { code: 'invalid_request' })
  }
  t.strictSame(read, [])
  refused(t, await post('/v1/retain', { content: 'x', bank_id: 'one', banks: BANKS }, STRANGER), 403, 'access_denied')
  t.strictSame(read, ['one'])
  refused(t, await post('/v1/recall', { query: 'x', banks: BANKS.slice(0, 2) }, STRANGER), 403, 'access_denied')
})
