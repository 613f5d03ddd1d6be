import t from 'tap'
import { Corpus } from '../../bench/http/corpus.js'
import { inventWords, seededRandom, zipfSampler } from '../../bench/http/vocabulary.js'
import { queryTerms } from '../helpers/query-terms.js'
import { STOP_WORDS } from '../../lib/text/stop-words.js'

await t.test('the same seed gives the same texts and queries, and another seed other ones', async (t) => {
  const make = (seed: number) => {
    const corpus = new Corpus(seed)
    const texts = corpus.texts(20)
    return { texts, queries: Array.from({ length: 20 }, () => corpus.query(texts)) }
  }
  t.strictSame(make(1), make(1))
  t.notSame(make(1), make(2))
})

await t.test('texts have about 200 characters', async (t) => {
  const lengths = new Corpus(1).texts(1000).map(({ text }) => text.length)
  const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length
  t.ok(mean > 190 && mean < 215, `${mean}`)
  t.ok(Math.min(...lengths) >= 150 && Math.max(...lengths) < 280)
})

await t.test('a query is four words that the service searches for, all from one text', async (t) => {
  const corpus = new Corpus(1)
  const texts = corpus.texts(50)
  for (let i = 0; i < 200; i++) {
    const words = corpus.query(texts).split(' ')
    t.equal(new Set(words).size, 4)
    t.ok(texts.some(({ telling }) => words.every((word) => telling.includes(word))))
    t.notOk(words.some((word) => STOP_WORDS.has(word)))
    t.ok(queryTerms(words.join(' ')).length > 0)
  }
})

await t.test('made-up words are all different', async (t) => {
  const words = inventWords(30_000, seededRandom(1))
  t.equal(new Set(words).size, 30_000)
})

await t.test('words are drawn by Zipf\'s law', async (t) => {
  const draw = zipfSampler(['first', 'second', 'third'], seededRandom(1))
  const counts = new Map<string, number>()
  for (let i = 0; i < 60_000; i++) {
    const word = draw()
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  const ratio = (a: string, b: string) => counts.get(a)! / counts.get(b)!
  t.ok(Math.abs(ratio('first', 'second') - 2) < 0.1)
  t.ok(Math.abs(ratio('first', 'third') - 3) < 0.15)
})
