import t from 'tap'
import { InMemoryVectorStore } from '../../lib/stores/in-memory/store.js'
import { testApp, type TestApp } from '../helpers/app.js'
import { refused, refusedFields } from './support.js'

interface Version {
  content: string
  document_id?: string
  replace_document?: boolean
}

const diary = (content: string): Version => ({ content, document_id: 'diary', replace_document: true })

async function put ({ post }: TestApp, items: Version[], headers = {}) {
  return await post('/v1/retain/batch', { bank_id: 'home', items }, headers)
}

/** The texts of the bank, newest first. */
async function texts ({ get }: TestApp, query = ''): Promise<string[]> {
  const { memories } = (await get(`/v1/banks/home/memories${query}`)).json<{ memories: Array<{ text: string }> }>()
  return memories.map(({ text }) => text)
}

t.test('a document is replaced as a whole, or extended', async (t) => {
  const app = await testApp(t)
  await put(app, [diary('one'), diary('two')])
  await put(app, [{ content: 'of another document', document_id: 'letter' }, { content: 'of none' }])
  await app.retain('elsewhere', 'five', { document_id: 'diary' })
  app.clock.advance(1000)
  t.match((await put(app, [diary('three'), { ...diary('two'), replace_document: false }])).json(), {
    results: [{ stored: true }, { deduplicated: true }],
  }, 'one item that replaces is enough')
  t.strictSame(await texts(app), ['three', 'of none', 'of another document', 'two'], 'an unchanged memory stays')
  app.clock.advance(1000)
  await app.retain('home', 'four', { document_id: 'diary' })
  t.strictSame(await texts(app, '?document_id=diary'), ['four', 'three', 'two'], 'without the option it is extended')
  app.clock.advance(1000)
  t.equal((await app.post('/v1/retain', { bank_id: 'home', ...diary('six') })).statusCode, 200)
  t.strictSame(await texts(app, '?document_id=diary'), ['six'])
  await put(app, [diary('seven'), { content: 'more', document_id: 'letter' }])
  t.strictSame(await texts(app, '?document_id=letter'), ['more', 'of another document'], 'others are extended')
})

t.test('an item without a document, and an invalid one, replace nothing', async (t) => {
  const app = await testApp(t)
  await put(app, [diary('one')])
  refusedFields(t, await put(app, [{ content: 'two', replace_document: true }]), 'items[0].replace_document')
  refusedFields(
    t, await app.post('/v1/retain', { bank_id: 'home', content: 'two', replace_document: true }), 'replace_document',
  )
  refusedFields(t, await put(app, [diary('two'), diary(' ')]), 'items[1].content')
  t.strictSame(await texts(app), ['one'])
})

t.test('a document is replaced also by a text that is nearly the same as its earlier one', async (t) => {
  const editions = [1, 2].map((edition) => (
    `Alice drinks a cup of green tea with honey every morning before work${edition === 2 ? ' begins' : ''}`
  ))
  for (const action of ['off', 'skip', 'warn', 'update'] as const) {
    const app = await testApp(t, { file: { signal_quality: { dedup: { action } } } })
    for (const text of editions) {
      await put(app, [diary(text)])
      t.strictSame(await texts(app), [text], action)
    }
  }
})

t.test('a repeat with the same key does not replace what was stored since', async (t) => {
  const app = await testApp(t)
  const key = { 'idempotency-key': 'a key' }
  await put(app, [diary('one')], key)
  await put(app, [diary('two')])
  t.equal((await put(app, [diary('one')], key)).statusCode, 200)
  t.strictSame(await texts(app), ['two'])
})

t.test('a replacement that removes something counts as a forget, and a refused retain does not', async (t) => {
  const app = await testApp(t, {
    file: { homeostasis: { rate_limits: { retain_per_minute: 3, forget_per_minute: 1 } } },
  })
  await put(app, [diary('one')])
  await put(app, [diary('two')])
  const response = await put(app, [diary('three')])
  refused(t, response, 429, 'rate_limited')
  t.match(response.json().detail, /forget/)
  t.strictSame(await texts(app), ['two'])
  app.clock.advance(60_000)
  await put(app, [{ content: 'a' }, { content: 'b' }, { content: 'c' }])
  t.match((await put(app, [diary('three')])).json().detail, /retain_per_minute/)
  const forgotten = await app.post('/v1/forget', { bank_id: 'home', document_ids: ['diary'] })
  t.match(forgotten.json(), { deleted_count: 1 })
})

t.test('of many simultaneous replacements of a document one remains, completely', async (t) => {
  for (const action of ['off', 'skip', 'update', 'warn'] as const) {
    const app = await testApp(t, { file: { signal_quality: { dedup: { action, threshold: 0.99 } } } })
    await put(app, [diary('the first'), diary('of two')])
    const versions = Array.from({ length: 8 }, (_, index) => (
      ['otter', 'heron', 'harbour'].map((word) => `The ${word} is number ${index} of all.`)
    ))
    const answers = await Promise.all(versions.map(async (version) => await put(app, version.map(diary))))
    t.ok(answers.every(({ statusCode }) => statusCode === 200), action)
    const left = (await texts(app)).sort()
    t.ok(versions.some((version) => version.toSorted().join() === left.join()), `${action}: ${left.join(', ')}`)
  }
})

t.test('it needs the permission to forget too', async (t) => {
  const app = await testApp(t, {
    file: {
      access_control: { enabled: true, default_policy: 'deny' },
      access_grants: [
        { bank_id: 'home', principal: 'user:writer', permissions: ['write', 'read'] },
        { bank_id: 'home', principal: 'user:cleaner', permissions: ['forget'] },
      ],
    },
  })
  for (const [principal, lacks] of [['user:writer', 'forget'], ['user:cleaner', 'write']] as const) {
    const response = await put(app, [diary('one')], { 'x-service-principal': principal })
    refused(t, response, 403, 'access_denied')
    t.match(response.json().detail, `denied '${lacks}'`)
  }
})

t.test('a store that cannot replace documents', async (t) => {
  const store = Object.assign(new InMemoryVectorStore(), { replaceDocuments: undefined })
  const app = await testApp(t, {}, { store })
  refused(t, await put(app, [diary('one')]), 501, 'not_supported')
  t.equal((await put(app, [{ content: 'one', document_id: 'diary' }])).statusCode, 200)
})
