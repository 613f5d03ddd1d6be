import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { analyzeQuery } from '../../helpers/retrieval.js'
import type { AnalyzedQuery } from '../../../lib/ranking/query.js'
import { NOW } from './candidates.js'
import { HOSTILE_TEXTS } from './hostile.js'

type Form =
  | 'asksForTime'
  | 'asksForName'
  | 'asksAboutUser'
  | 'asksForAssistantTurn'
  | 'asksForMethod'
  | 'asksForAdvice' | 'asksForGuidance'
  | 'asksForList'
const FORMS: readonly Form[] = [
  'asksForTime', 'asksForName', 'asksAboutUser', 'asksForAssistantTurn', 'asksForMethod', 'asksForAdvice',
  'asksForGuidance', 'asksForList',
]

/** Questions with what each asks for. */
const cases: Array<[text: string, asks: Form[]]> = [
  ['When did the bridge open?', ['asksForTime']],
  ['What year was the mill built?', ['asksForTime']],
  ['How long has the baker been ill?', ['asksForTime']],
  ['On which days is the well cleaned?', ['asksForTime', 'asksForList']],
  ['What times are best for the ferry?', ['asksForTime', 'asksForList']],
  ['How many weeks did the flood last?', ['asksForTime', 'asksForList']],
  ['Did the mill or the bridge open first?', ['asksForTime']],
  ['Which opened most recently, the mill or the bridge?', ['asksForTime', 'asksForName']],
  ['In what order did they open?', ['asksForTime']],
  ['Why did the clock stop at first?', []],
  ['Did the first ferry order fish last week?', []],
  ['How much does the boat cost?', []],
  ['How often is the well cleaned?', []],
  ['How many boats are there?', ['asksForList']],
  ['Where is the ferry?', ['asksForName']],
  ['Which town has the oldest mill?', ['asksForName']],
  ['Who repaired the clock?', ['asksForName']],
  ["What's the name of the cook?", ['asksForName']],
  ['What are the names of the twins?', ['asksForName']],
  ['What kinds of bread does the baker sell?', ['asksForList']],
  ['Which tools are in the shed?', ['asksForName', 'asksForList']],
  ['Tell me about the clock.', []],
  ['Is the ferry late?', []],
  ['What is this?', []],
  ['What does the miller eat?', []],
  ['', []],
  ['What did I pay for the boat?', ['asksAboutUser']],
  ['Do we own a kettle?', ['asksAboutUser']],
  ['Is the mine open?', ['asksAboutUser']],
  ['What did you say about my boat?', ['asksForAssistantTurn']],
  ['Which bread have you recommended to me?', ['asksForName', 'asksForAssistantTurn']],
  ['Can you remind me of the name of the mill?', ['asksForAssistantTurn']],
  ['I think of our last conversation about bread.', ['asksForAssistantTurn']],
  ['What was your advice on kettles?', ['asksForAssistantTurn']],
  ['How did I mend the clock?', ['asksAboutUser', 'asksForMethod']],
  ['Which approach did we plan to take?', ['asksForName', 'asksAboutUser', 'asksForMethod']],
  ['What steps did you list for me?', ['asksForAssistantTurn', 'asksForList']],
  ['How can I mend the clock?', ['asksAboutUser', 'asksForGuidance']],
  ['What way did the ferry go?', []],
  ['Can you suggest a bread for my guests?', ['asksAboutUser', 'asksForAdvice', 'asksForGuidance']],
  ['Where do you think we should moor?', ['asksForName', 'asksAboutUser', 'asksForGuidance']],
  ['Help me plan a trip.', ['asksForGuidance']],
  ['Is it the best way to Bergen?', ['asksForGuidance']],
  ['What should I do about the bread that you recommended?', ['asksForAssistantTurn']],
  ['Any tips for a trip on the canal?', ['asksForAdvice', 'asksForGuidance']],
  ['What would you recommend?', ['asksForAdvice', 'asksForGuidance']],
  ['What might this suggest about my boat?', ['asksAboutUser']],
  ['Which ferry did they recommend?', ['asksForName']],
]
for (const [text, asks] of cases) {
  t.test(`“${text}” asks for ${asks.length === 0 ? 'nothing special' : asks.join(', ')}`, async (t) => {
    const question = analyzeQuery(text, NOW)
    t.strictSame(FORMS.filter((form) => question[form]), asks)
  })
}

t.test('a question for a quantity is recognised, and one for a number of different things is not', async (t) => {
  const quantities = [
    'How many loaves did we bake?', 'How old is the mill?', 'What is the monthly budget?', 'How often does it rain?',
  ]
  const others = [
    'How many different mills did we see?', 'How many kinds of bread are there?', 'Which mill is it?',
    'The price fell.', '',
  ]
  for (const text of quantities) t.ok(analyzeQuery(text, NOW).asksForQuantity, text)
  for (const text of others) t.notOk(analyzeQuery(text, NOW).asksForQuantity, text)
})

t.test('a question about the present is not about the memories of the time that it names', async (t) => {
  const present = [
    'Is the ferry open today?', 'Can I order fish for Lena tonight?', 'What should I cook for the party tomorrow?',
    'What do I have to do tomorrow?',
  ]
  const past = [
    'What did I cook today?', 'Who was here this week?', 'Which bread have I eaten this month?', 'Is the ferry open?',
    'What should I have done last week?', 'What is it that you said today?', 'Who visited in May 2026?', '',
  ]
  for (const text of present) t.ok(analyzeQuery(text, NOW).asksAboutPresent, text)
  for (const text of past) t.notOk(analyzeQuery(text, NOW).asksAboutPresent, text)
})

t.test('capitals do not matter', async (t) => {
  const forms = (question: AnalyzedQuery) => FORMS.filter((form) => question[form])
  for (const [text] of cases) {
    t.strictSame(forms(analyzeQuery(text.toUpperCase(), NOW)), forms(analyzeQuery(text, NOW)), text)
  }
})

t.test('terms are those of the index, and stems are in order, without stop words', async (t) => {
  const { text, terms, stems } = analyzeQuery('Which boats did the boats tow?', NOW)
  t.equal(text, 'Which boats did the boats tow?')
  t.strictSame(terms, ['boat', 'tow'])
  t.strictSame(stems, ['boat', 'boat', 'tow'])
  t.strictSame(analyzeQuery('who are you', NOW).stems, [], 'although these are its only terms')
})

t.test('words that only mark a request are not terms, unless there are no others', async (t) => {
  t.strictSame(analyzeQuery('Can you suggest a bread, please?', NOW).terms, ['bread'])
  t.strictSame(analyzeQuery('Can you recommend a good bread that I might find interesting?', NOW).terms, ['bread'])
  t.strictSame(analyzeQuery('Which bread is good for me?', NOW).terms, ['bread', 'good'], 'which is no request')
  t.strictSame(analyzeQuery('Any suggestions?', NOW).terms, ['suggest'])
})

t.test('words that only form a question, or ask what was said, are not terms either', async (t) => {
  t.strictSame(analyzeQuery('What kinds of bread might the baker mention?', NOW).terms, ['bread', 'baker'])
  t.strictSame(analyzeQuery('Is the baker kind?', NOW).terms, ['baker', 'kind'])
  t.strictSame(analyzeQuery('Did you suggest a bread in our previous chat?', NOW).terms, ['bread'])
  t.strictSame(analyzeQuery('What steps did you list for the bread?', NOW).terms, ['list', 'bread'])
  t.strictSame(analyzeQuery('What approach did I take to the bread?', NOW).terms, ['take', 'bread'])
  t.strictSame(analyzeQuery('How high are the steps?', NOW).terms, ['high', 'step'], 'which asks for neither')
  t.strictSame(analyzeQuery('What did the baker say?', NOW).terms, ['baker', 'sai'], 'nobody was told anything')
  t.strictSame(analyzeQuery('What do you mention?', NOW).terms, ['mention'])
})

t.test('verbs that say little without their object are not terms, unless there are no others', async (t) => {
  t.strictSame(analyzeQuery('How did the baker get to the mill?', NOW).terms, ['baker', 'mill'])
  t.strictSame(analyzeQuery('Where has the baker gone to find flour?', NOW).terms, ['baker', 'flour'])
  t.strictSame(analyzeQuery('What happened to the kettle that she gave him?', NOW).terms, ['kettl'])
  t.strictSame(analyzeQuery('Where did she go?', NOW).terms, ['go'])
  t.strictSame(analyzeQuery('When is the baker going to visit us?', NOW).terms, ['baker', 'go', 'visit', 'us'])
  t.strictSame(analyzeQuery('What did the baker make, and what did he take?', NOW).terms, ['baker', 'make', 'take'])
})

t.test('function words of a German, French or Spanish query are not terms, unless there are no others', async (t) => {
  const { terms } = analyzeQuery('Wer hat das Mehl für den Bäcker gemahlen?', NOW)
  t.strictSame(terms, ['mehl', 'backer', 'gemahlen', 'baecker'])
  t.strictSame(analyzeQuery('Qui a moulu la farine pour le boulanger ?', NOW).terms, ['moulu', 'farin', 'boulang'])
  t.strictSame(analyzeQuery('¿Quién muele el trigo?', NOW).terms, ['muel', 'trigo'])
  t.strictSame(analyzeQuery('Weiß Frau Nicht, dass er nichts hat?', NOW).terms.includes('nicht'), true, 'of “nichts”')
  t.strictSame(analyzeQuery('Wer ist das?', NOW).terms, ['wer', 'ist', 'da'])
  t.strictSame(analyzeQuery('Did the war die down?', NOW).terms, ['war', 'die', 'down'])
})

t.test('the short form and the other spelling of a word are terms too', async (t) => {
  t.strictSame(analyzeQuery('Is the puppy grey?', NOW).terms, ['puppi', 'grei', 'pup', 'grai'])
  t.strictSame(analyzeQuery('the mill', NOW).terms, ['mill'])
})

t.test('the unit of the time that is asked for is no term, unless there are no others', async (t) => {
  t.strictSame(analyzeQuery('What time of day does the mill open?', NOW).terms, ['mill', 'open'])
  t.strictSame(analyzeQuery('On which two days is the mill closed?', NOW).terms, ['two', 'mill', 'close'])
  t.strictSame(analyzeQuery('What did the baker do that day?', NOW).terms, ['baker', 'dai'])
  t.strictSame(analyzeQuery('Which week?', NOW).terms, ['week'])
})

t.test('the times that a query names are relative to the present', async (t) => {
  t.strictSame(analyzeQuery('What was baked yesterday?', NOW).namedPeriods, [
    { from: Date.UTC(2026, 0, 14), to: Date.UTC(2026, 0, 15) },
  ])
  t.strictSame(analyzeQuery('What was baked?', NOW).namedPeriods, [])
})

t.test('any text is analysed, with the same result each time', async () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => {
    assert.deepEqual(analyzeQuery(text, NOW), analyzeQuery(text, NOW))
  }))
})

t.test('a hostile text is read in bounded time', async (t) => {
  for (const text of HOSTILE_TEXTS) t.type(analyzeQuery(text, NOW), 'object')
})

t.test('a long text of short names of months and days is read once, not once for each of them', async (t) => {
  // Read once for each, it would take an hour.
  t.equal(analyzeQuery(`1 May ${'féb '.repeat(100_000)}`, NOW).soughtPeriods.length, 2)
})

t.test('the units of a time that a long text asks for are listed once, not once for each time', async (t) => {
  // Each word that is no unit would be looked up in a list for each time, 40,000,000,000 lists altogether.
  t.strictSame(analyzeQuery('which barn day '.repeat(200_000), NOW).terms, ['barn'])
})

t.test('other forms and spellings of its words do not make a query longer', async (t) => {
  const { ownTerms, terms } = analyzeQuery('What is my favorite family photo of my mother and grandmother?', NOW)
  t.equal(ownTerms, 5)
  t.ok(terms.length > 8)
})

t.test('of a long query the first terms are searched, and its own words before other forms of them', async (t) => {
  const numbers = Array.from({ length: 2000 }, (_, index) => `word${index}`)
  const { terms, stems } = analyzeQuery(`grandmother ${numbers.join(' ')}`, NOW)
  t.strictSame(terms, ['grandmoth', ...numbers.slice(0, 1023)])
  t.strictSame(stems, ['grandmoth', ...numbers], 'the ranking sees all of its words')
  // A word that is repeated takes one place, and other forms take those that are left.
  const repeated = [...numbers.slice(0, 600), ...numbers.slice(0, 600), ...numbers.slice(600, 1022)]
  const fewer = analyzeQuery(`${repeated.join(' ')} grandmother`, NOW).terms
  t.strictSame(fewer.slice(0, 1023), [...numbers.slice(0, 1022), 'grandmoth'])
  t.equal(fewer.length, 1024)
})
