import assert from 'node:assert/strict'
import fc from '../../../helpers/fast-check.js'
import t from 'tap'
import { fnv1a } from '../../../../lib/text/words.js'
import { statedSpeaker } from '../../../../lib/stores/speaker.js'
import { readSignals, type Signals } from '../../../../lib/ranking/scoring/signals.js'
import { HOSTILE_TEXTS } from '../hostile.js'

const read = (text: string, metadata = {}): Signals => (
  readSignals({ text, speaker: statedSpeaker(metadata) })
)

t.test('the speaker is named before a colon, or in the metadata, which takes precedence', async (t) => {
  t.strictSame(read('Nora: The kettle is on.').speaker, ['nora'])
  t.strictSame(read('Nora Quist: The kettle is on.').speaker, ['nora', 'quist'])
  t.strictSame(read('The kettle is on.', { speaker: 'Nora' }).speaker, ['nora'])
  t.strictSame(read('Nora: The kettle is on.', { speaker: 'Otto' }).speaker, ['otto'])
  for (const text of [
    'The kettle is on.', 'nora: the kettle is on.', 'At 10:30 the kettle was on.', 'Nora:', 'https://example.org', '',
  ]) {
    t.strictSame(read(text).speaker, [], text)
  }
  const names = [...Array<string>(25).fill('nora'), 'nor']
  t.strictSame(read('The kettle is on.', { speaker: names.join(' ') }).speaker, names)
  t.strictSame(read('The kettle is on.', { speaker: `${names.join(' ')}a` }).speaker, [], 'more than 128 characters')
  for (const speaker of [5, true, null, '']) t.strictSame(read('The kettle is on.', { speaker }).speaker, [])
})

t.test('a speaker who is a user or an assistant has that role, whatever the case', async (t) => {
  for (const speaker of ['user', 'User', 'HUMAN', ' human ']) t.equal(read('Hello.', { speaker }).role, 'user', speaker)
  for (const speaker of ['assistant', 'Assistant', 'AI', 'ai', 'bot', 'model']) {
    t.equal(read('Hello.', { speaker }).role, 'assistant', speaker)
  }
  for (const speaker of ['Nora', 'user support', 'Aiko', 5, null]) {
    t.equal(read('Hello.', { speaker }).role, undefined, String(speaker))
  }
  t.equal(read('Hello.').role, undefined)
  t.equal(read('Assistant: Hello.').role, 'assistant')
})

t.test('without a speaker the role of a chat message names them, and other roles do not', async (t) => {
  t.equal(read('Hello.', { role: 'user' }).role, 'user')
  t.equal(read('Hello.', { role: 'Assistant' }).role, 'assistant')
  t.equal(read('Hello.', { role: 'assistant', speaker: 'user' }).role, 'user', 'the speaker takes precedence')
  t.strictSame(read('Nora: Hello.', { role: 'user' }).speaker, ['user'])
  t.strictSame(read('Hello.', { role: 'system' }).speaker, ['system'])
  t.equal(read('Hello.', { role: 'system' }).role, undefined)
  for (const role of ['admin', 'agent', 'user account', 5, null, '']) {
    t.strictSame(read('Hello.', { role }).speaker, [], String(role))
  }
})

t.test('the content is hashed as stems, without the speaker and stop words', async (t) => {
  for (const text of ['Nora: The kettles are on the stove.', 'The kettles are on the stove.']) {
    const { contentWords, hashes } = read(text)
    t.equal(contentWords, 2)
    t.strictSame([...hashes.subarray(0, 2)], ['kettl', 'stove'].map(fnv1a))
  }
})

/** Texts that show a signal, and texts that do not. */
const cases: Record<
  'isFirstPerson' | 'mentionsTime' | 'endsInQuestion' | 'isReaction' | 'statesPreference' | 'mentionsNumber',
  [shown: string[], absent: string[]]
> = {
  isFirstPerson: [
    ['I mend clocks.', 'The clock is mine.', 'Nora: My clock stopped.', "I'm late."],
    ['Otto mends clocks.', 'Ian is in.', ''],
  ],
  mentionsTime: [
    [
      'We opened yesterday.', 'Since Monday it rains.', 'The mill of 1850.', 'Two weeks of rain.', 'See you in May.',
      'Last night it froze.', 'The well is cleaned on Tuesdays.', 'We bake at weekends.',
    ],
    ['We opened.', 'It may rain.', 'Room 12.', 'An ice cream sundae.'],
  ],
  mentionsNumber: [
    ['We bake 40 loaves.', 'Seven ferries left.', 'It costs 3.50.', 'A dozen eggs.'], ['We bake bread.', 'Often.', ''],
  ],
  endsInQuestion: [
    ['Is the kettle on?', 'Tell me, is it on? (I cannot see.)'], ['The kettle is on.', 'Is it on? Yes, it is on.'],
  ],
  statesPreference: [
    [
      'I prefer the early ferry.', "We'd really prefer tea.", 'User: I would rather walk.', 'My favourite mill is red.',
      'I always favour bread over cake.', 'We take the ferry rather than the bridge.', 'That suits my tea preferences.',
    ],
    [
      'Which do you prefer?', 'She prefers tea.', 'It is a favourite of many.', 'I am rather tired.', '',
      'I like it. They walk rather than ride.',
    ],
  ],
  isReaction: [
    ['Wow, a kettle.', 'Nora: Thanks for the kettle.', "That's a fine kettle.", 'Sounds like rain.'],
    ['The kettle sounds.', 'Wowser kettles.', 'Nora: The kettle, thanks.'],
  ],
}
for (const [signal, [shown, absent]] of Object.entries(cases) as Array<[keyof typeof cases, [string[], string[]]]>) {
  t.test(`${signal} is recognised in the texts that show it, and in no others`, async (t) => {
    for (const text of shown) t.equal(read(text)[signal], true, text)
    for (const text of absent) t.equal(read(text)[signal], false, text)
  })
}

t.test('a short turn of a user that tells the assistant how to act from then on is an instruction', async (t) => {
  const isInstruction = (text: string, speaker = 'user') => read(text, { speaker }).isInstruction
  for (const text of [
    'Always show a drawing.', 'Thanks! Please always answer in German.', 'From now on you are my tutor.',
    'Use metric units when I ask for a recipe.', "Don't ever mention the mill.", 'I want you to always ask first.',
    'Whenever I say kettle, draw one.', 'Two rules:\nNever guess.', 'Rules:\n\n  - always cite\n',
  ]) {
    t.equal(isInstruction(text), true, text)
    t.equal(isInstruction(text, 'assistant'), false, text)
    t.equal(isInstruction(text, 'Nora'), false, text)
  }
  for (const text of [
    'I always drink tea.', 'Never mind.', 'Always been fond of clocks.', 'We never met.', 'Never heard of it.',
    'The kettle always boils.', 'It rings whenever I call.', 'In future clocks will be better.', '',
    `Always show a drawing. ${'The old clock of the copper mill. '.repeat(15)}`,
  ]) t.equal(isInstruction(text), false, text)
  t.equal(read('User: Always show a drawing.').isInstruction, true)
  t.equal(read('Always show a drawing.').isInstruction, false)
})

t.test('names are recognised by their capitals, except for the first word of a sentence, up to three', async (t) => {
  t.equal(read('The kettle is on. Somebody rings.').nameScore, 0)
  t.equal(read('We met Otto.').nameScore, 1 / 3)
  t.equal(read('We met Otto in Bergen.').nameScore, 2 / 3)
  t.equal(read('We met Otto, Nora, Ida and Per in Bergen.').nameScore, 1)
  t.equal(read('Nora: We met.').nameScore, 0, 'a speaker is not a name')
  t.equal(read('We met Élodie, Łukasz and Ольга.').nameScore, 1)
  t.equal(read('We met E\u0301lodie. Élodie rang.').nameScore, 1 / 3)
  t.equal(read('We met at the caféBar and the éclairShop.').nameScore, 0, 'a capital within a word')
})

t.test('only the beginning of a long text is read', async (t) => {
  const { isFirstPerson, nameScore, contentWords } = read(`${'kettle '.repeat(1000)} I met Otto.`)
  t.notOk(isFirstPerson)
  t.equal(nameScore, 0)
  t.ok(contentWords < 1000)
})

t.test('any text is analysed, and the score of names is within 0–1', async () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => {
    const { nameScore } = read(text)
    assert.ok(nameScore >= 0 && nameScore <= 1)
  }))
})

t.test('a hostile text is read in bounded time', async (t) => {
  for (const text of HOSTILE_TEXTS) t.type(read(text, { speaker: 'user' }), 'object')
})
