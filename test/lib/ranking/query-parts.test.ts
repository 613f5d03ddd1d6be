import assert from 'node:assert/strict'
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { analyzeQueries, splitQuery } from '../../../lib/ranking/query.js'
import { HOSTILE_TEXTS } from './hostile.js'

const cases: Record<string, string[]> = {
  'What do Nora and Otto collect?': ['What do Nora collect?', 'What do Otto collect?'],
  'What do both Nora and Otto collect?': ['What do Nora collect?', 'What do Otto collect?'],
  'Where have Nora, Otto and Ida been?': ['Where have Nora been?', 'Where have Otto been?', 'Where have Ida been?'],
  'Is it Nora or Otto?': ['Is it Nora?', 'Is it Otto?'],
  'What do Édith, Özgür and Nora collect?': [
    'What do Édith collect?', 'What do Özgür collect?', 'What do Nora collect?',
  ],
  'What do Nora Lind and Otto Berg Jr collect?': ['What do Nora Lind collect?', 'What do Otto Berg Jr collect?'],
  'Did Nora Lind, Otto or Ida move to New York?': [
    'Did Nora Lind move to New York?', 'Did Otto move to New York?', 'Did Ida move to New York?',
  ],
  'Is it colder in New York or San Francisco?': ['Is it colder in New York?', 'Is it colder in San Francisco?'],
  'What did May and Otto collect?': ['What did May collect?', 'What did Otto collect?'],
  'When did the mill burn down after the flood of spring?': ['When did the mill burn down', 'the flood of spring'],
  'How many days passed between the flood and the fire?': ['the flood', 'the fire'],
  'How long was it between when I bought jam, bread and tea and when I sold the boat?': [
    'when I bought jam, bread and tea', 'when I sold the boat',
  ],
  'What differs between copper kettles and iron pots?': ['copper kettles', 'iron pots'],
  'Which opened first, the mill or the bridge?': ['the mill', 'the bridge'],
  'What did I see most recently: a mill, a bridge, or a ferry?': ['a mill', 'a bridge', 'a ferry'],
  'When did Otto sell the boat before moving north?': ['When did Otto sell the boat', 'moving north'],
}
for (const [question, parts] of Object.entries(cases)) {
  t.test(`“${question}” has ${parts.length} parts`, async (t) => { t.strictSame(splitQuery(question), parts) })
}

t.test('a part asks for what the whole question asks for, and other wordings do not', async (t) => {
  const asked = (query: string) => analyzeQueries({ query, rewrites: ['the red ferry'] }, 0)
    .map(({ text, asksForTime, asksAboutUser, asksForAssistantTurn }) => (
      [text, { asksForTime, asksAboutUser, asksForAssistantTurn }]
    ))
  const none = { asksForTime: false, asksAboutUser: false, asksForAssistantTurn: false }
  const mine = { asksForTime: true, asksAboutUser: true, asksForAssistantTurn: false }
  const said = { asksForTime: true, asksAboutUser: false, asksForAssistantTurn: true }
  t.strictSame(asked('What did I see first, the mill or the bridge?').slice(1), [
    ['the mill', mine], ['the bridge', mine], ['the red ferry', none],
  ])
  t.strictSame(asked('What did you recommend first, my mill or the bridge?').slice(1), [
    ['my mill', said], ['the bridge', said], ['the red ferry', none],
  ])
})

t.test('a single question is not split', async (t) => {
  for (const question of [
    'What does Nora collect?', 'What are salt and pepper for?', 'When did the mill burn down?',
    'What happened after the flood?', 'When was the day after?',
    'Have Nora, Otto, Ida and Per met?', 'What broke between 3 May and 5 June?', 'What lies between bread and tea?',
    'What broke between March and May 2024?', 'What broke between Monday and Friday?', 'What broke in May and June?',
    'What broke between Christmas and New Year?', 'What happened between Nora and Otto?',
    'What broke between last week and the flood?', 'Which of the two, if any, did the mill or the bridge hide?',
    'Which was first, the mill?', 'Which was first, the mill or that?', 'Is it the mill or the bridge?',
    'What is red, the mill, the bridge, the boat or the ferry?', 'First, is it the mill or the bridge?',
    '', '?', 'and', 'Nora and',
    `What do Nora and Otto collect${' now'.repeat(200)}?`,
  ]) t.strictSame(splitQuery(question), [], question)
})

t.test('a part without content is not a part', async (t) => {
  for (const question of [
    'What did Nora and I do?', 'When was it after the flood of spring?',
    'When did the mill burn down after it was that?',
  ]) {
    t.strictSame(splitQuery(question), [], question)
  }
})

t.test('any text has no parts or at most three', async () => {
  const words = fc.constantFrom(
    'When', 'did', 'Nora', 'Otto', 'Ida,', 'and', 'or', 'both', 'after', 'before', 'the', 'flood', '?', ',', "'s",
  )
  fc.assert(fc.property(fc.oneof(
    fc.array(words).map((list) => list.join(' ')), fc.string({ unit: 'grapheme' }),
  ), (text) => {
    const parts = splitQuery(text)
    assert.ok(parts.length === 0 || parts.length === 2 || parts.length === 3)
  }))
})

t.test('a hostile text is read in bounded time', async (t) => {
  for (const text of HOSTILE_TEXTS) {
    t.strictSame(splitQuery(text), [], 'too long to be split')
    t.type(splitQuery(text.slice(0, 500)), Array)
    t.type(splitQuery(`${text.slice(0, 490)}\n`), Array)
  }
})
