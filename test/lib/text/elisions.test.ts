import t from 'tap'
import { analyzeQuery } from '../../helpers/retrieval.js'
import { analyzeText } from '../../../lib/text/analysis.js'
import { elidedWords } from '../../../lib/text/alternative-terms.js'

const elided = (text: string) => [...elidedWords(text)].flat()

t.test('the words after elided ones are terms of French and Italian texts', async (t) => {
  for (const [text, expected] of [
    ["L'orgue de l’église", ['orgu', 'eglis']],
    ["Il n'a pas d'argent jusqu'ici, puisqu'Anna part", ['argent', 'ici', 'anna']],
    ["un'amica dell'arte, all'alba", ['amica', 'art', 'alba']],
    ["l'arc-en-ciel de L'Oréal", ['arc', 'oreal']],
    ["d'", []],
    ["l'", []],
  ] as const) t.strictSame(elided(text), expected, text)
})

t.test('function words after elided ones, and contractions and names of English, give none', async (t) => {
  for (const text of [
    "c'est qu'il y en a", "don't isn't we'll must've that'll it's I'd", "rock'n'roll at five o'clock", "O'Brien's",
    "'tis", "''",
  ]) t.strictSame(elided(text), [], text)
})

t.test('a memory is found by the word without its article, and the other way round', async (t) => {
  for (const [query, memory] of [
    ['Quel orgue ?', "Nous avons accordé l'orgue."], ["Où est l'orgue ?", 'Cet orgue est vieux.'],
  ] as const) {
    const { terms } = analyzeText(memory)
    t.ok(analyzeQuery(query, 0).terms.some((term) => terms.has(term)), query)
  }
  t.equal(analyzeText("l'orgue").length, analyzeText('orgue').length, 'the further term does not count in the length')
})
