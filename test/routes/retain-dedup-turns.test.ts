import t from 'tap'
import { testApp } from '../helpers/app.js'

const file = { signal_quality: { dedup: { action: 'update' as const, threshold: 0.7 } } }

t.test('two simultaneous texts that resemble a third, but not each other, do not both replace it', async (t) => {
  const { post, retain, get } = await testApp(t, { file })
  await retain('home', 'copper kettle stands behind wooden garden shed near old stone')
  const answers = await Promise.all([
    post('/v1/retain', { bank_id: 'home', content: 'copper kettle stands behind wooden garden shed near young apple' }),
    post('/v1/retain', { bank_id: 'home', content: 'silver bucket stands behind wooden garden shed near old stone' }),
  ])
  for (const answer of answers) t.equal(answer.statusCode, 200)
  const { memories } = (await get('/v1/banks/home/memories')).json()
  const ids = answers.map((answer) => answer.json().memory_id as string)
  t.strictSame(
    new Set(memories.map(({ memory_id: id }: { memory_id: string }) => id)), new Set(ids),
    'every memory that was reported as stored exists',
  )
  t.equal(new Set(ids).size, memories.length)
  for (const text of ['young apple', 'silver bucket']) {
    t.ok(memories.some(({ text: stored }: { text: string }) => stored.includes(text)), text)
  }
})

t.test('a thousand similar texts are compared with some of those before them', async (t) => {
  const { post } = await testApp(t, { file: { signal_quality: { dedup: { action: 'warn' } } } })
  const words = Array.from({ length: 60 }, (_, index) => (
    `word${String.fromCharCode(97 + index % 26)}${String.fromCharCode(97 + index / 26)}x`
  )).join(' ')
  const items = Array.from(
    { length: 1000 },
    (_, index) => ({
      content: `${words} ${String.fromCharCode(97 + index % 26).repeat(3)}${String.fromCharCode(97 + index / 26 % 26)
        .repeat(2)}q${String.fromCharCode(97 + index / 676)}`,
    }),
  )
  const { results } = (await post('/v1/retain/batch', { bank_id: 'home', items })).json()
  t.equal(results.filter((result: { near_duplicate?: object }) => result.near_duplicate !== undefined).length, 999)
})
