import t from 'tap'
import { testApp } from '../helpers/app.js'
import { getConfig, putConfig, resetConfig } from './bank-configs.js'
import { answerOf, evidenceIn, generation, ScriptedModel } from './reflecting.js'
import { hitsOf, longText, refused, refusedFields, textsOf } from './support.js'

const QUERY = 'Where does the otter sleep?'

await t.test('rate limits of a bank hold from the next request on, for this bank only', async (t) => {
  const app = await testApp(t)
  const recall = async (bankId: string) => await app.post('/v1/recall', { bank_id: bankId, query: QUERY })
  for (let count = 0; count < 3; count++) t.equal((await recall('home')).statusCode, 200)
  await putConfig(app, 'home', { homeostasis: { rate_limits: { recall_per_minute: 2 } } })
  t.same([(await recall('home')).statusCode, (await recall('home')).statusCode], [200, 200])
  refused(t, await recall('home'), 429, 'rate_limited', { detail: /recall_per_minute \(2\)/ })
  for (let count = 0; count < 3; count++) t.equal((await recall('other')).statusCode, 200)
  await resetConfig(app, 'home')
  t.equal((await recall('home')).statusCode, 200)
})

await t.test('a daily quota of a bank holds from the next request on', async (t) => {
  const app = await testApp(t)
  await putConfig(app, 'home', { homeostasis: { quotas: { retain_per_day: 2 } } })
  await app.retain('home', 'One.')
  await app.retain('home', 'Two.')
  refused(t, await app.post('/v1/retain', { bank_id: 'home', content: 'Three.' }), 429, 'quota_exceeded')
  await putConfig(app, 'home', { homeostasis: { quotas: { retain_per_day: 3 } } })
  await app.retain('home', 'Three.')
})

await t.test('the rules of a bank for content and metadata hold for retain, batch and import', async (t) => {
  const app = await testApp(t)
  await putConfig(app, 'home', {
    homeostasis: { retain_max_content_bytes: 12 },
    barriers: {
      validation: { max_content_length: 10 },
      metadata: { blocked_keys: ['secret', '\u00e9t\u00e9'], max_metadata_size_bytes: 12 },
    },
  })
  refusedFields(t, await app.post('/v1/retain', { bank_id: 'home', content: '12345678901' }), 'content')
  refusedFields(t, await app.post('/v1/retain', { bank_id: 'home', content: 'öööööööö' }), 'content')
  refusedFields(
    t, await app.post('/v1/retain', { bank_id: 'home', content: 'x', metadata: { a: '1234567890' } }), 'metadata',
  )
  refusedFields(
    t, await app.post('/v1/retain/batch', { bank_id: 'home', items: [{ content: 'x' }, { content: '12345678901' }] }),
    'items[1].content',
  )
  t.same(
    (await app.post('/v1/retain', {
      bank_id: 'home', content: 'y', metadata: JSON.parse('{"e\u0301t\u00e9":1}') as object,
    })).json().redactions,
    ['metadata.e\u0301t\u00e9'],
  )
  t.same(
    (await app.post('/v1/retain', {
      bank_id: 'home', content: 'x', metadata: { SECRET: '1234567890' },
    })).json().redactions,
    ['metadata.SECRET'],
  )
  await app.retain('other', 'longer than a bank of the name home may have it')
})

await t.test('a recall stays within the token limit of the bank, and of each of several banks', async (t) => {
  const app = await testApp(t)
  for (const bankId of ['home', 'other']) {
    for (let index = 0; index < 4; index++) {
      await app.retain(bankId, `The otter number ${index} sleeps on the river ${bankId}.`)
    }
  }
  const tokens = async (more: Record<string, unknown>) => (
    (await app.post('/v1/recall', { query: QUERY, ...more })).json<{ usage: { tokens: number }, truncated: boolean }>()
  )
  const free = await tokens({ bank_id: 'home' })
  t.notOk(free.truncated)
  await putConfig(app, 'home', { homeostasis: { recall_max_tokens: free.usage.tokens - 1 } })
  for (const request of [{ bank_id: 'home' }, { bank_id: 'home', max_tokens: 100_000 }, { banks: ['other', 'home'] }]) {
    const { usage, truncated } = await tokens(request)
    t.ok(truncated)
    t.ok(usage.tokens < free.usage.tokens)
  }
  t.notOk((await tokens({ bank_id: 'other' })).truncated)
})

await t.test('the dedup of a bank holds for its next retain', async (t) => {
  const app = await testApp(t)
  const content = 'Alice feeds the old brown otter at the river bank behind her house every single morning'
  await app.retain('home', `${content}.`)
  await putConfig(app, 'home', { signal_quality: { dedup: { action: 'skip', threshold: 0.8 } } })
  const repeat = async (bankId: string, end: string) => (
    (await app.post('/v1/retain', { bank_id: bankId, content: content + end })).json<{ stored: boolean }>().stored
  )
  t.equal(await repeat('home', ' gladly!'), false)
  await app.retain('other', `${content}.`)
  t.equal(await repeat('other', ' gladly!'), true)
  await resetConfig(app, 'home')
  t.equal(await repeat('home', ' gladly!'), true)
})

await t.test('the mission of a bank, or of its profile, is given to the model', async (t) => {
  const languageModel = new ScriptedModel()
  languageModel.answer = () => generation('The otter sleeps on the river [1].')
  const app = await testApp(
    t, { file: { profiles: { formal: { mission: 'Speak like a notary.' } } } }, { languageModel },
  )
  await app.retain('home', 'The otter sleeps on the river.')
  const prompt = async () => {
    answerOf(await app.post('/v1/reflect', { bank_id: 'home', query: QUERY }))
    return JSON.stringify(languageModel.last.messages)
  }
  t.notMatch(await prompt(), /notary|pirate/)
  await putConfig(app, 'home', { profile: 'formal' })
  t.match(await prompt(), /Speak like a notary\./)
  await putConfig(app, 'home', { profile: 'formal', mission: 'Speak like a pirate.' })
  const own = await prompt()
  t.match(own, /Speak like a pirate\./)
  t.notMatch(own, /notary/)
})

await t.test('the settings of a bank for evidence and its minimum trust hold', async (t) => {
  const languageModel = new ScriptedModel()
  languageModel.answer = () => generation('The otter sleeps on the river [1].')
  const app = await testApp(
    t, { file: { identity: { trust: [{ principal: 'user:guest', trust: 'untrusted' }] } } }, { languageModel },
  )
  for (let index = 0; index < 4; index++) await app.retain('home', `The otter number ${index} sleeps on the river.`)
  await app.retain('home', 'The otter sleeps in the hotel.', {}, { 'x-service-principal': 'user:guest' })
  const evidence = async () => {
    answerOf(await app.post('/v1/reflect', { bank_id: 'home', query: QUERY }))
    return evidenceIn(languageModel.last)
  }
  t.equal((await evidence()).length, 5)
  await putConfig(app, 'home', { reflect: { min_trust: 'trusted' } })
  const trusted = await evidence()
  t.equal(trusted.length, 4)
  t.notMatch(JSON.stringify(trusted), /hotel/)
  await putConfig(app, 'home', { reflect: { max_evidence: 2 } })
  t.equal((await evidence()).length, 2)
})

await t.test('another fusion of a bank changes its scores, and no others', async (t) => {
  const app = await testApp(t)
  for (const bankId of ['home', 'other']) {
    await app.retain(bankId, 'The otter sleeps.')
    await app.retain(
      bankId, 'The otter, otter, otter of the river is here with many other animals that sleep or do not.',
    )
  }
  const scores = async (bankId: string) => (
    hitsOf(await app.post('/v1/recall', { bank_id: bankId, query: 'otter river', explain: true }))
      .map(({ score, scores: parts }) => JSON.stringify([score, parts]))
  )
  const before = await scores('home')
  t.same(before, await scores('other'))
  await putConfig(app, 'home', { retrieval: { bm25: { k1: 5, b: 1 } } })
  t.notSame(await scores('home'), before)
  t.same(await scores('other'), before)
  await resetConfig(app, 'home')
  t.same(await scores('home'), before)
})

await t.test('the passage length of a bank holds for its next retain', async (t) => {
  const app = await testApp(t)
  const chunks = async (bankId: string, content: string) => (
    (await app.post('/v1/retain', { bank_id: bankId, content })).json<{ chunk_count: number }>().chunk_count
  )
  await putConfig(app, 'home', { retrieval: { chunk_max_characters: 300 } })
  const text = longText(20)
  const [mine, others] = [await chunks('home', text), await chunks('other', text)]
  t.ok(mine > others, `${mine} and ${others}`)
})

await t.test('several banks with the same settings are ranked by them, and others by those of the file', async (t) => {
  const app = await testApp(t)
  for (const bankId of ['a', 'b']) {
    await app.retain(bankId, `The otter of ${bankId} sleeps.`)
    await app.retain(
      bankId, `The otter, otter, otter of the river ${bankId} is here with many other animals that sleep or do not.`,
    )
  }
  const scores = async () => (
    hitsOf(await app.post('/v1/recall', { banks: ['a', 'b'], query: 'otter river' })).map(({ score }) => score)
  )
  const byFile = await scores()
  const config = { retrieval: { bm25: { k1: 5, b: 1 } } }
  await putConfig(app, 'a', config)
  t.same(await scores(), byFile)
  await putConfig(app, 'b', { ...config, mission: 'Another mission is no other way of ranking.' })
  t.notSame(await scores(), byFile)
})

await t.test('a reflect over several banks stays within the limits of each', async (t) => {
  const languageModel = new ScriptedModel()
  languageModel.answer = () => generation('The otter sleeps on the river [1].')
  const app = await testApp(t, {}, { languageModel })
  for (const bankId of ['a', 'b']) {
    for (let index = 0; index < 3; index++) {
      await app.retain(bankId, `The otter number ${index} of ${bankId} sleeps on the river.`)
    }
  }
  const evidence = async () => {
    answerOf(await app.post('/v1/reflect', { banks: ['a', 'b'], query: QUERY }))
    return evidenceIn(languageModel.last).length
  }
  t.equal(await evidence(), 6)
  await putConfig(app, 'a', { reflect: { max_evidence: 4 } })
  await putConfig(app, 'b', { reflect: { max_evidence: 3 } })
  t.equal(await evidence(), 3)
})

await t.test('memories from before a configuration stay unchanged', async (t) => {
  const app = await testApp(t)
  await app.retain('home', 'The otter sleeps on the river.', { metadata: { secret: 'kept' } })
  await putConfig(app, 'home', {
    barriers: { validation: { max_content_length: 5 }, metadata: { blocked_keys: ['secret'] } },
  })
  t.same(textsOf(await app.post('/v1/recall', { bank_id: 'home', query: QUERY })), ['The otter sleeps on the river.'])
  t.match((await app.get('/v1/banks/home/memories')).json().memories, [{ metadata: { secret: 'kept' } }])
})

await t.test('the profile that the file chooses for banks is in force, and is shown', async (t) => {
  const app = await testApp(t, {
    file: { profiles: { terse: { homeostasis: { recall_max_tokens: 5 } } }, banks: { 'team-*': { profile: 'terse' } } },
  })
  t.match(await getConfig(app, 'team-a'), {
    config: {},
    effective: { profile: 'terse', homeostasis: { recall_max_tokens: 5 } },
    origin: { profile: 'file', 'homeostasis.recall_max_tokens': 'profile' },
  })
  t.equal((await getConfig(app, 'home')).effective.profile, undefined)
})
