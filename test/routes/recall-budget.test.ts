import t from 'tap'
import { testApp, type TestApp } from '../helpers/app.js'
import { refusedFields, textsOf } from './support.js'

/** By falling score for the query `green tea`; the second is by far the longest. */
const SHORT = 'Green tea, green tea.'
const LONG = 'Green tea was carried over mountains, rivers, deserts, borders, bridges, harbours and seas by ' +
  'merchants, monks, sailors, soldiers and thieves.'
const LAST = 'Somebody poured tea.'

async function fill ({ post, retain }: TestApp, bank = 'bank'): Promise<{ order: string[], costs: number[] }> {
  for (const content of [LAST, LONG, SHORT]) await retain(bank, content)
  const order = textsOf(await post('/v1/recall', { bank_id: bank, query: 'green tea' }))
  const costs: number[] = []
  for (let count = 1; count <= order.length; count++) {
    const before = costs.reduce((sum, cost) => sum + cost, 0)
    costs.push(
      (await post('/v1/recall', { bank_id: bank, query: 'green tea', max_results: count })).json().usage.tokens -
        before,
    )
  }
  return { order, costs }
}

await t.test('a budget in the request', async (t) => {
  const app = await testApp(t)
  const { post } = app
  const { order, costs: [first, second, third] } =
    await fill(app) as { order: string[], costs: [number, number, number] }
  const total = first + second + third
  t.same(order, [SHORT, LONG, LAST], 'the precondition of the cases')
  t.ok(third < second)

  const cases: Array<[what: string, budget: number | string, hits: number, truncated: boolean]> = [
    ['that fits everything truncates nothing', total, 3, false],
    ['one short of everything leaves the last hit out', total - 1, 2, true],
    ['that just fits two hits gives two', first + second, 2, true],
    ['that the second hit does not fit ends the list there, though the third would fit', first + third, 1, true],
    ['that just fits the first gives one', first, 1, true],
    ['that the first does not fit gives none', first - 1, 0, true],
    ['of one token gives none here', 1, 0, true],
    ['as a numeric string counts the same', String(first), 1, true],
  ]
  for (const [what, budget, hits, truncated] of cases) {
    await t.test(`a budget ${what}`, async (t) => {
      const answer = (await post('/v1/recall', { bank_id: 'bank', query: 'green tea', max_tokens: budget })).json()
      t.same(answer.hits.map((hit: { text: string }) => hit.text), order.slice(0, hits))
      t.equal(answer.truncated, truncated)
      t.equal(answer.total_available, 3)
      t.equal(answer.usage.tokens, [first, second, third].slice(0, hits).reduce((sum, cost) => sum + cost, 0))
    })
  }

  await t.test('a list that ends at max_results is not marked as truncated', async (t) => {
    t.match(
      (await post('/v1/recall', { bank_id: 'bank', query: 'green tea', max_tokens: first, max_results: 1 })).json(),
      { truncated: false, usage: { tokens: first } },
    )
  })

  for (const budget of [0, -1, 1.5, 'many', '', true]) {
    await t.test(`max_tokens ${JSON.stringify(budget)} is refused`, async (t) => {
      refusedFields(
        t, await post('/v1/recall', { bank_id: 'bank', query: 'green tea', max_tokens: budget }), 'max_tokens',
      )
    })
  }
})

await t.test('recall_max_tokens', async (t) => {
  const probe = await testApp(t)
  const { order, costs: [first] } = await fill(probe) as { order: string[], costs: [number] }
  const app = await testApp(t, {
    file: {
      homeostasis: { recall_max_tokens: first },
      banks: {
        wide: { homeostasis: { recall_max_tokens: 100_000 } }, 'narrow-*': { homeostasis: { recall_max_tokens: 1 } },
      },
    },
  })
  for (const bank of ['bank', 'wide', 'narrow-1']) {
    for (const content of [LAST, LONG, SHORT]) await app.retain(bank, content)
  }
  const recall = async (body: Record<string, unknown>) => (
    (await app.post('/v1/recall', { query: 'green tea', ...body })).json()
  )

  await t.test('is the budget of a request that names none', async (t) => {
    t.match(await recall({ bank_id: 'bank' }), { hits: { length: 1 }, truncated: true, usage: { tokens: first } })
  })
  await t.test('is the ceiling of a request that asks for more', async (t) => {
    t.match(await recall({ bank_id: 'bank', max_tokens: 1_000_000 }), { hits: { length: 1 }, truncated: true })
  })
  await t.test('leaves a smaller budget of the request alone', async (t) => {
    t.match(await recall({ bank_id: 'bank', max_tokens: first - 1 }), { hits: { length: 0 }, truncated: true })
  })
  await t.test('may be set for one bank', async (t) => {
    t.match(await recall({ bank_id: 'wide' }), { hits: { length: order.length }, truncated: false })
  })
  await t.test('may be set for the banks of a pattern', async (t) => {
    t.match(await recall({ bank_id: 'narrow-1' }), { hits: { length: 0 }, truncated: true })
  })
  await t.test('is the smallest of several banks', async (t) => {
    t.match(await recall({ banks: ['wide', 'bank'] }), { usage: { tokens: first }, truncated: true })
    t.match(await recall({ banks: ['wide', 'narrow-1'] }), { hits: { length: 0 }, truncated: true })
  })
})
