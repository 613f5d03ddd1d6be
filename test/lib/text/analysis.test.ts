import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { analyzeText } from '../../../lib/text/analysis.js'
import { queryTerms } from '../../helpers/query-terms.js'
import { stem, words } from '../../../lib/text/words.js'
import { STOP_WORDS } from '../../../lib/text/stop-words.js'

await t.test('a text counts its stems, and its stop words as they are', async (t) => {
  const { terms, length } = analyzeText('The runners were running, and the dog runs')
  t.strictSame([...terms], [['the', 2], ['runner', 1], ['were', 1], ['run', 2], ['and', 1], ['dog', 1]])
  t.equal(length, 4, 'stop words do not count in the length')
})

await t.test('a text of stop words has length 1, an empty one 0', async (t) => {
  t.equal(analyzeText('it was what it was').length, 1)
  t.strictSame(analyzeText('...'), { terms: new Map(), length: 0, question: false })
})

await t.test('a query gives its distinct stems without stop words, in order', async (t) => {
  t.strictSame(queryTerms("What did Alice's friends say about running and run?"), ['alic', 'friend', 'sai', 'run'])
})

await t.test('a query of only stop words keeps them', async (t) => {
  t.strictSame(queryTerms('Who are you? You!'), ['who', 'are', 'you'])
})

await t.test('a query without words has no terms', async (t) => {
  t.strictSame(queryTerms('?!'), [])
})

await t.test('words that can be the subject of a question are not stop words', async (t) => {
  for (const word of ['will', 'may', 'us', 'march', 'like', 'before', 'after', 'id', 'ill', 'well', 'might']) {
    t.notOk(STOP_WORDS.has(word), word)
  }
})

await t.test('contractions without their apostrophe are stop words', async (t) => {
  t.strictSame(queryTerms("I'm sure they don't know what's new"), ['sure', 'know', 'new'])
})

await t.test('every stop word has the form in which a text contains it', async (t) => {
  for (const word of STOP_WORDS) t.strictSame(words(word), [word])
})

await t.test('only words of a to z are stemmed', async (t) => {
  t.equal(stem('relational'), 'relat')
  t.equal(stem('internationalization'), 'internation', 'one too long for the memo')
  t.equal(stem('running2'), 'running2')
  t.equal(stem('événements'), 'événements')
  t.equal(stem('running'), stem('running'), 'the memo gives what the first call gave')
})

await t.test('irregular forms have the term of their base word', async (t) => {
  for (const [form, word] of [
    ['bought', 'buy'], ['went', 'going'], ['children', 'child'], ['written', 'writing'], ['knives', 'knife'],
    ['taught', 'teaches'],
  ] as const) {
    t.equal(stem(form), stem(word), form)
  }
})

await t.test('a text that ends in a question is recognised', async (t) => {
  for (const text of [
    'How are you?', 'Well, "where to?" ', 'And you? 🎉', 'Seen this? [photo: a cat]', 'Really? (I doubt it)', '元気ですか？',
    'What?!?',
  ]) {
    t.equal(analyzeText(text).question, true, text)
  }
  for (const text of ['Fine.', 'Why? Because.', 'a?b', '', '[photo: a cat?] nice', `?${' ]'.repeat(30_000)}x`]) {
    t.equal(analyzeText(text).question, false, text)
  }
})

await t.test('forms of a word with equal Porter stems let a query find the other forms', async (t) => {
  const { terms } = analyzeText('She painted two paintings of her connected cities')
  for (const query of ['paint', 'painting', 'connection', 'city']) t.ok(terms.has(queryTerms(query)[0] ?? ''), query)
})

await t.test('every term of a query is a term of the same text', async (t) => {
  t.doesNotThrow(() => fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
    const { terms, length } = analyzeText(text)
    let total = 0
    for (const count of terms.values()) total += count
    for (const term of queryTerms(text)) if (!terms.has(term)) throw new Error(`${term} is missing`)
    if (length > total || (length === 0) !== (total === 0)) throw new Error(`length ${length} of ${total} terms`)
  })))
})
