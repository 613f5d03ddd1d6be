import fc from 'fast-check'
import t from 'tap'
import { AnswerCache } from '../../../lib/memory/answer-cache.js'

const answer = (length: number) => ({ fingerprint: '', answer: 'x'.repeat(length), cachedAt: 0 })

t.test('a caller with many answers loses its own oldest ones', async (t) => {
  const cache = new AnswerCache(100_000)
  cache.set('ada', 'first', answer(1000))
  for (let index = 0; index < 1000; index++) cache.set('mallory', `key ${index}`, answer(1000))
  t.same(cache.get('ada', 'first'), answer(1000))
  t.equal(cache.get('mallory', 'key 0'), undefined)
  t.same(cache.get('mallory', 'key 999'), answer(1000))
  const kept = Array.from({ length: 1000 }, (_, index) => cache.get('mallory', `key ${index}`) !== undefined)
  t.equal(kept.indexOf(true), kept.lastIndexOf(false) + 1, 'the oldest went first')
  t.ok(kept.filter(Boolean).length > 70, 'and no more than necessary')
})

t.test('of several callers those with most lose answers', async (t) => {
  const cache = new AnswerCache(100_000)
  for (let index = 0; index < 20; index++) cache.set(`caller ${index}`, 'k', answer(500))
  for (let index = 0; index < 30; index++) cache.set('bob', `key ${index}`, answer(500))
  for (let index = 0; index < 500; index++) cache.set('mallory', `key ${index}`, answer(500))
  for (let index = 0; index < 20; index++) t.ok(cache.get(`caller ${index}`, 'k'), `caller ${index}`)
  for (let index = 0; index < 30; index++) t.ok(cache.get('bob', `key ${index}`), `bob ${index}`)
})

t.test('an answer that alone exceeds the limit is not kept, and others are', async (t) => {
  const cache = new AnswerCache(10_000)
  cache.set('ada', 'k', answer(1000))
  cache.set('mallory', 'k', answer(20_000))
  t.equal(cache.get('mallory', 'k'), undefined)
  t.ok(cache.get('ada', 'k'))
})

t.test('the newest answer replaces an earlier one, and all together stay within the limit', async () => {
  const writes = fc.array(fc.record({
    caller: fc.constantFrom('a', 'b', 'c'),
    key: fc.constantFrom('1', '2', '3', '4', '5'),
    length: fc.integer({ min: 0, max: 1500 }),
  }), { maxLength: 100 })
  fc.assert(fc.property(writes, (writes) => {
    const cache = new AnswerCache(5000)
    const last = new Map<string, number>()
    for (const { caller, key, length } of writes) {
      cache.set(caller, key, answer(length))
      last.set(caller + key, length)
      let characters = 0
      for (const [name, expected] of last) {
        const kept = cache.get(name[0]!, name[1]!)
        if (kept !== undefined && kept.answer.length !== expected) return false
        characters += kept?.answer.length ?? 0
      }
      if (characters > 5000) return false
    }
    return true
  }))
})
