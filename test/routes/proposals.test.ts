import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp, type TestApp } from '../helpers/app.js'

interface Proposal {
  id: string
  memory_id: string
  may_supersede: string
  because: string
  state: string
  decided_by: string | null
}

const proposing = (more: Record<string, unknown> = {}) => ({
  file: { banks: { '*': { signal_quality: { proposals: { mode: 'propose', ...more } } } } },
} as const)

async function proposals ({ get }: TestApp, query = ''): Promise<Proposal[]> {
  const response = await get(`/v1/banks/home/proposals${query}`)
  if (response.statusCode !== 200) throw new Error(response.body)
  return response.json<{ proposals: Proposal[] }>().proposals
}

async function texts ({ get }: TestApp, state = 'current'): Promise<string[]> {
  const response = await get(`/v1/banks/home/memories?state=${state}`)
  const { memories } = response.json<{ memories: Array<{ text: string }> }>()
  return memories.map(({ text }) => text).sort()
}

const ADA = { speaker: 'Ada' }

t.test('a statement of another place is proposed, and nothing changes until it is accepted', async (t) => {
  const app = await testApp(t, proposing())
  const rome = await app.retain('home', 'I live in Rome.', ADA)
  const milan = await app.retain('home', 'I live in Milan now.', ADA)
  const found = await proposals(app)
  t.match(found, [{ memory_id: milan, may_supersede: rome, because: 'place', state: 'open', decided_by: null }])
  t.same(await texts(app), ['I live in Milan now.', 'I live in Rome.'])
  const accepted = await app.post(`/v1/banks/home/proposals/${found[0]!.id}/accept`, {})
  t.match(accepted.json(), { state: 'accepted' })
  t.same(await texts(app), ['I live in Milan now.'])
  t.match((await app.get(`/v1/banks/home/memories/${rome}`)).json(), { state: 'superseded', superseded_by: milan })
  t.same(await proposals(app), [])
  t.match(await proposals(app, '?state=accepted'), [{ id: found[0]!.id }])
  t.equal((await app.post(`/v1/banks/home/proposals/${found[0]!.id}/accept`, {})).statusCode, 409)
  const undone = await app.post(`/v1/banks/home/proposals/${found[0]!.id}/undo`, {})
  t.match(undone.json(), { state: 'open' })
  t.same(await texts(app), ['I live in Milan now.', 'I live in Rome.'])
})

t.test('a dismissed proposal leaves both memories, and can be taken back', async (t) => {
  const app = await testApp(t, proposing())
  await app.retain('home', 'I live in Rome.', ADA)
  await app.retain('home', 'I live in Milan now.', ADA)
  const [{ id }] = await proposals(app) as [Proposal]
  t.match((await app.post(`/v1/banks/home/proposals/${id}/dismiss`, {})).json(), { state: 'dismissed' })
  t.same(await proposals(app), [])
  t.equal((await texts(app)).length, 2)
  t.match((await app.post(`/v1/banks/home/proposals/${id}/undo`, {})).json(), { state: 'open' })
  t.equal((await proposals(app)).length, 1)
  t.equal((await app.post(`/v1/banks/home/proposals/${id}/undo`, {})).statusCode, 409)
})

t.test('kinds that the bank accepts by itself supersede in the write, which can be undone', async (t) => {
  const app = await testApp(t, proposing({ accept: ['place'] }))
  const rome = await app.retain('home', 'I live in Rome.', ADA)
  const answer = await app.post('/v1/retain', { bank_id: 'home', content: 'I live in Milan now.', ...ADA })
  t.match(answer.json(), { stored: true, superseded: [rome] })
  const [{ id }] = await proposals(app, '?state=accepted') as [Proposal]
  t.match((await app.post(`/v1/banks/home/proposals/${id}/undo`, {})).json(), { state: 'open' })
  t.equal((await texts(app)).length, 2)
})

t.test('what different people say, an exact repeat and a bank that does not ask have no proposals', async (t) => {
  const app = await testApp(t, proposing())
  await app.retain('home', 'I live in Rome.', ADA)
  await app.retain('home', 'I live in Milan now.', { speaker: 'Bob' })
  await app.retain('home', 'I live in Rome.', ADA)
  t.same(await proposals(app), [])
  const silent = await testApp(t)
  await silent.retain('home', 'I live in Rome.', ADA)
  await silent.retain('home', 'I live in Milan now.', ADA)
  t.same(await proposals(silent), [])
})

t.test('a proposal goes with either of its memories', async (t) => {
  const app = await testApp(t, proposing())
  const rome = await app.retain('home', 'I live in Rome.', ADA)
  await app.retain('home', 'I live in Milan now.', ADA)
  const [{ id }] = await proposals(app) as [Proposal]
  await app.post('/v1/forget', { bank_id: 'home', memory_ids: [rome] })
  t.same(await proposals(app), [])
  t.equal((await app.post(`/v1/banks/home/proposals/${id}/accept`, {})).statusCode, 404)
  t.equal((await app.post('/v1/banks/home/proposals/unknown/accept', {})).statusCode, 404)
})

t.test('proposals have pages, newest first', async (t) => {
  const app = await testApp(t, proposing())
  await app.retain('home', 'I live in Rome.', ADA)
  await app.retain('home', 'I live in Milan.', ADA)
  await app.retain('home', 'I live in Turin.', ADA)
  const all = await proposals(app)
  t.ok(all.length >= 3)
  const response = await app.get('/v1/banks/home/proposals?limit=2')
  const first = response.json<{ proposals: Proposal[], next_cursor: string }>()
  const second = await proposals(app, `?limit=200&cursor=${first.next_cursor}`)
  t.same([...first.proposals, ...second], all)
})

t.test('a memory that was taken back, or says another thing now, takes the place of none', async (t) => {
  const app = await testApp(t, proposing())
  const pathOf = (id: string) => `/v1/banks/home/memories/${id}`
  const accept = async ({ id }: Proposal) => (await app.post(`/v1/banks/home/proposals/${id}/accept`, {})).statusCode
  await app.retain('home', 'I live in Rome.', ADA)
  const milan = await app.retain('home', 'I live in Milan now.', ADA)
  const [first] = await proposals(app) as [Proposal]
  await app.post(`${pathOf(milan)}/retire`, { reason: 'invalidated' })
  t.equal(await accept(first), 409)
  t.same(await texts(app), ['I live in Rome.'])
  const lyon = await app.retain('home', 'I live in Lyon now.', ADA)
  const [second] = await proposals(app) as [Proposal]
  const patch = { method: 'PATCH', url: pathOf(lyon), payload: { content: 'I like Lyon.' } } as const
  t.equal((await app.inject(patch)).statusCode, 200)
  t.same(await proposals(app), [])
  t.equal(await accept(second), 404)
  t.same(await texts(app), ['I like Lyon.', 'I live in Rome.'])
})

t.test('a dismissal while a proposal is being accepted is refused', async (t) => {
  const store = new InMemoryVectorStore()
  const app = await testApp(t, proposing(), { store })
  await app.retain('home', 'I live in Rome.', ADA)
  await app.retain('home', 'I live in Milan now.', ADA)
  const [{ id }] = await proposals(app) as [Proposal]
  const revise = store.revise.bind(store)
  store.revise = async (...revision) => {
    t.equal((await app.post(`/v1/banks/home/proposals/${id}/dismiss`, {})).statusCode, 409)
    await revise(...revision)
  }
  t.equal((await app.post(`/v1/banks/home/proposals/${id}/accept`, {})).statusCode, 200)
  t.same(await texts(app), ['I live in Milan now.'])
  t.match(await proposals(app, '?state=accepted'), [{ id }])
})

t.test('what cannot be superseded leaves its proposal open', async (t) => {
  const app = await testApp(t, proposing())
  const rome = await app.retain('home', 'I live in Rome.', ADA)
  await app.retain('home', 'I live in Milan now.', ADA)
  const [{ id }] = await proposals(app) as [Proposal]
  await app.post(`/v1/banks/home/memories/${rome}/retire`, { reason: 'other' })
  t.equal((await app.post(`/v1/banks/home/proposals/${id}/accept`, {})).statusCode, 409)
  await app.post(`/v1/banks/home/memories/${rome}/restore`, {})
  t.match(await proposals(app), [{ id, state: 'open', decided_by: null }])
})

t.test('taking an acceptance back restores nothing that others took back since', async (t) => {
  const app = await testApp(t, proposing())
  const rome = await app.retain('home', 'I live in Rome.', ADA)
  await app.retain('home', 'I live in Milan now.', ADA)
  const [{ id }] = await proposals(app) as [Proposal]
  await app.post(`/v1/banks/home/proposals/${id}/accept`, {})
  await app.post(`/v1/banks/home/memories/${rome}/restore`, {})
  await app.post(`/v1/banks/home/memories/${rome}/retire`, { reason: 'invalidated' })
  t.match((await app.post(`/v1/banks/home/proposals/${id}/undo`, {})).json(), { state: 'open' })
  t.same(await texts(app), ['I live in Milan now.'])
})

t.test('a memory that is forgotten while it is compared keeps none from being stored', async (t) => {
  const store = new InMemoryVectorStore()
  const app = await testApp(t, proposing({ accept: ['place'] }), { store })
  const search = store.search.bind(store)
  for (const via of ['retain', 'append'] as const) {
    store.search = search
    const rome = await app.retain('home', 'I live in Rome.', { ...ADA, document_id: via })
    store.search = async (request) => {
      const found = await search(request)
      await app.post('/v1/forget', { bank_id: 'home', memory_ids: [rome] })
      return found
    }
    const content = 'I live in Milan now.'
    const answer = via === 'retain'
      ? await app.post('/v1/retain', { bank_id: 'home', content, ...ADA })
      : await app.post('/v1/banks/home/conversations/talk/messages', {
        messages: [{ role: 'user', name: 'Ada', content }],
      })
    t.equal(answer.statusCode, 200, answer.body)
  }
  t.same(await proposals(app, '?state=accepted'), [])
})
