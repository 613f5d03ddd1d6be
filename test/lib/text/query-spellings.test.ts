import t from 'tap'
import { analyzeText } from '../../../lib/text/analysis.js'
import { analyzeQuery } from '../../helpers/retrieval.js'

/** The terms that a query and a memory share. */
const shared = (query: string, memory: string) => {
  const { terms } = analyzeText(memory)
  return analyzeQuery(query, 0).terms.filter((term) => terms.has(term))
}
/** The terms of a query that are none of its words. */
const added = (query: string) => {
  const { terms, ownTerms } = analyzeQuery(query, 0)
  return terms.slice(ownTerms)
}

t.test('a memory is found by words that it joins or parts otherwise', async (t) => {
  for (const [query, memory, expected] of [
    ['e-mail', 'Her email is in the file', ['email']],
    ['email', 'Her e-mail is in the file', ['mail']],
    ['wifi name', 'The Wi-Fi is called Gartenzwerg', ['wi']],
    ['co-worker', 'A coworker left', ['cowork']],
    ['error E-5032', 'It stops with E5032', ['e5032']],
    ['error E5032', 'It stops with E-5032', ['5032']],
    ['COVID-19', 'He had COVID19 twice', ['covid19']],
    ['covid19', 'He had COVID-19 twice', ['covid', '19']],
    ['PO-2291-B', 'Order PO2291B has arrived', ['po2291b']],
    ['flour 500 g', 'It takes 500g of flour', ['flour', '500g']],
    ['flour 500g', 'It takes 500 g of flour', ['flour', '500']],
    ['81,344 rows', 'It has 81344 rows', ['row', '81344']],
    ['U.K. visa', 'The UK has changed the visa', ['visa', 'uk']],
  ] as const) t.strictSame(shared(query, memory), expected, query)
})

t.test('a memory is found by umlauts as they are typed without a key for them', async (t) => {
  for (const [query, memory, expected] of [
    ['Termin Oezdemir', 'Dr. Özdemir hat angerufen', ['ozdemir']],
    ['Özdemir', 'Dr. Oezdemir hat angerufen', ['oezdemir']],
    ['Where does Mueller live?', 'Frau Müller wohnt in Kiel', ['muller']],
    ['Mu\u0308ller', 'Frau Mueller wohnt in Kiel', ['mueller']],
    ['faehre', 'Die Fähre fährt um neun', ['fahr']],
    ['Aarhus', 'The flight to Århus', ['arhu']],
    ['Århus', 'The flight to Aarhus', ['aarhu']],
  ] as const) t.strictSame(shared(query, memory), expected, query)
})

t.test('other words have no other spellings', async (t) => {
  for (const query of [
    'What does the hand-painted bowl remind her of?', 'on 2025-06-14', 'the 21st of May', 'commit 9f3c2ab7d1',
    'Does Michael wear shoes on Tuesday?', 'the blue values continue', 'Feuer Bauer Quelle', 'U.S. ferries',
    '¿Quién muele el trigo?', 'Wer ist das für ihn?',
    'a 3-4 b 192.168.40.27', 'x'.repeat(100), `${'b-'.repeat(50)}b`,
  ]) t.strictSame(added(query), [], query)
})

t.test('they count neither as words of the query nor twice', async (t) => {
  const { ownTerms, stems, terms } = analyzeQuery('Wi-Fi wi-fi', 0)
  t.equal(ownTerms, 2)
  t.strictSame(stems, ['wi', 'fi', 'wi', 'fi'])
  t.strictSame(terms, ['wi', 'fi', 'wifi'])
})

t.test('a long text has at most 64 of them', async (t) => {
  t.equal(added(Array.from({ length: 200 }, (_, index) => `x-${index}`).join(' ')).length, 64)
})

t.test('long words, runs of signs and keys are read in linear time', async (t) => {
  for (const part of ['a', 'ü', 'ae', 'a-', 'a.', '1,234', '1a', 'ue', '-', 'ä-']) {
    const text = part.repeat(40_000)
    const start = process.cpuUsage()
    analyzeQuery(text, 0)
    const { user } = process.cpuUsage(start)
    t.ok(user < 2_000_000, `${part}: ${user / 1000} ms`)
  }
})
