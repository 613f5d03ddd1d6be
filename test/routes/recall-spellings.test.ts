import t from 'tap'
import { testApp } from '../helpers/app.js'

t.test('memories are found by the parts of identifiers, single characters and letters as they are typed', async (t) => {
  const app = await testApp(t)
  for (const text of [
    'TokenBucketRateLimiter replaced the old class.', 'Die Werkstatt liegt an der Hauptstraße.', 'Ewa comes from Łódź.',
    'The circuit breaker opens after five faults.', '我有一只黑猫', '父は新しい赤い車を買った', 'The meeting is on Monday.',
  ]) await app.retain('notes', text)
  for (const [query, found] of [
    ['rate limiter', 'TokenBucketRateLimiter'], ['hauptstrasse', 'Hauptstraße'], ['lodz', 'Łódź'], ['猫', '黑猫'],
    ['CircuitBreaker', 'circuit breaker'],
    ['誰が車で来た', '車を買った'],
  ] as const) {
    const { hits } = (await app.post('/v1/recall', { bank_id: 'notes', query })).json()
    t.match(hits[0]?.text ?? '', found, query)
  }
})
