import type { Test } from 'tap'
import { testApp, type TestApp } from '../helpers/app.js'
import type { TestConfig } from '../helpers/config.js'
import { as } from '../routes/support.js'

export const LIMIT = 100

/** A recall by one caller on one bank. */
export async function recall ({ post }: TestApp, who = 'user:ada') {
  return await post('/v1/recall', { bank_id: 'home', query: 'tea' }, as(who))
}

/** Two gateways with limits. */
export async function twoGateways (t: Test, { file, ...config }: TestConfig): Promise<[TestApp, TestApp]> {
  const homeostasis = { rate_limits: { recall_per_minute: LIMIT, global_per_minute: LIMIT + 50 } }
  const one = async () => await testApp(t, { ...config, file: { ...file, homeostasis } })
  // One after the other, because the first one may migrate.
  return [await one(), await one()]
}

/** The statuses of many recalls at once, half of them by each gateway, and how many have each. */
export async function statuses (gateways: readonly TestApp[], count: number): Promise<Record<number, number>> {
  const answers = await Promise.all(Array.from({ length: count }, async (_, index) => (
    (await recall(gateways[index % gateways.length]!)).statusCode
  )))
  const counts: Record<number, number> = {}
  for (const status of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Checks that two gateways together admit exactly the limit, whatever is asked of them at the same time. */
export async function exactOverTwo (t: Test, config: TestConfig): Promise<void> {
  const gateways = await twoGateways(t, config)
  const [first, second] = gateways
  t.same(await statuses(gateways, 400), { 200: LIMIT, 429: 300 })
  const refused = await recall(second)
  t.match(refused.headers, {
    'ratelimit-policy': '"recall";q=100;w=60', ratelimit: '"recall";r=0;t=60',
  })
  const forget = await first.post('/v1/forget', { bank_id: 'home', tags: ['none'] }, as('user:ada'))
  t.equal(forget.headers['ratelimit'], '"global";r=49;t=60', 'the refused ones took nothing of the other limit')
  t.equal((await recall(first, 'user:bob')).headers['ratelimit'], '"recall";r=99;t=60, "global";r=149;t=60')
  first.clock.advance(60_000)
  second.clock.advance(60_000)
  t.equal((await recall(second)).headers['ratelimit'], '"recall";r=99;t=60, "global";r=149;t=60')
}
