import assert from 'node:assert/strict'
import fc from '../../../helpers/fast-check.js'
import t from 'tap'
import { SCORER_TABLE } from '../../../../lib/config/scorer-table.js'
import { analyzeQuery, rankingInputs } from '../../../helpers/retrieval.js'
import { scoreBreakdown, SCORER_NAMES, type ScorerName } from '../../../../lib/ranking/scoring/scorers.js'
import { SignalReader } from '../../../../lib/ranking/scoring/signals.js'
import { candidate, DAY, NOW, type CandidateFields } from '../candidates.js'

/** What a scorer gives the first of these candidates. */
function given (name: ScorerName, query: string, ...candidates: CandidateFields[]): number {
  const question = analyzeQuery(query, NOW)
  const [first] = rankingInputs(
    candidates.map((fields, index) => candidate(String(index), fields)), question, new SignalReader(),
  )
  return scoreBreakdown(first!, question)[name]
}

t.test('the table of weights has every scorer, and no other', async (t) => {
  t.strictSame(Object.keys(SCORER_TABLE).sort(), [...SCORER_NAMES].sort())
})

type Case = [query: string, ...candidates: CandidateFields[]]
const told = (query: string, text: string, more: CandidateFields = {}): Case => [query, { text, ...more }]

const USER = { metadata: { speaker: 'user' } }
const ASSISTANT = { metadata: { speaker: 'assistant' } }

const TALK = { documentId: 'talk' }
/** A turn of the talk. */
const at = (second: number): CandidateFields => ({ ...TALK, occurredAt: NOW + 1000 * second })

/** For each scorer, a candidate that it raises and one that it does not affect. */
const cases: Record<ScorerName, { liked: Case[], passedOver: Case[] }> = {
  match: { liked: [['kettle', { lexical: 0.4 }]], passedOver: [['kettle', {}], ['kettle', { semantic: 0.9 }]] },
  phrase: {
    liked: [told('Where is the copper kettle?', 'A copper kettle shines.')],
    passedOver: [
      told('Where is the copper kettle?', 'A kettle of copper shines.'), told('kettle', 'A kettle.'), told('', ''),
      told('copper kettle', 'Kettle, copper.'),
    ],
  },
  document: {
    liked: [
      ['kettle', { lexical: 0.4, documentId: 'a' }], ['kettle', { lexical: 0.4 }],
      ['kettle', { lexical: 0, documentId: 'a' }, { lexical: 0.4, documentId: 'a' }],
    ],
    passedOver: [
      ['kettle', { documentId: 'a' }], ['kettle', { lexical: 0, documentId: 'a' }, { lexical: 0.4, documentId: 'b' }],
    ],
  },
  document_best: {
    liked: [['kettle', { lexical: 0.1, own: 0, documentId: 'a' }, { lexical: 0.4, documentId: 'a' }]],
    passedOver: [['kettle', { lexical: 0.4, own: 0, documentId: 'a' }, { lexical: 0.4, documentId: 'b' }]],
  },
  document_meaning: {
    liked: [['kettle', { semantic: 0.4, documentId: 'a' }]],
    passedOver: [['kettle', { lexical: 0.4, documentId: 'a' }]],
  },
  question_meaning: {
    liked: [
      ['Why is it late?', { text: 'It stopped.', ...at(2) }, { text: 'What of the clock?', semantic: 0.9, ...at(1) }],
      ['Why?', { text: 'It stopped.', ...USER, ...at(2) }, { text: 'And the clock?', semantic: 0.9, ...at(1) }],
    ],
    passedOver: [
      ['Why is it late?', { text: 'It stopped.', ...at(2) }, { text: 'Look at the clock.', semantic: 0.9, ...at(1) }],
      ['Why is it late?', { text: 'It stopped.', ...at(2) }, { text: 'What of the clock?', lexical: 0.9, ...at(1) }],
      ['Why is it late?', { text: 'It stopped.', ...at(1) }, { text: 'What of the clock?', semantic: 0.9, ...at(2) }],
      ['Why?', { text: 'It stopped.', ...ASSISTANT, ...at(2) }, { text: 'And the clock?', semantic: 0.9, ...at(1) }],
      [
        'Why?', { text: 'It stopped.', ...at(2) }, { text: 'And the mill?', semantic: 0.6, ...at(1) },
        { text: 'And the clock?', semantic: 0.9 },
      ],
      ['Why?', { text: 'It stopped.', ...at(2) }, { text: 'And the clock?', semantic: 0.9, occurredAt: NOW }],
    ],
  },
  speaker: {
    liked: [
      told('What does Nora mend?', 'Nora: A clock.'),
      ['What does Nora mend?', { text: 'A clock.', metadata: { speaker: 'Nora' } }],
      ['What does Nora mend?', { text: 'Nora: A clock.' }, { text: 'Otto: A kettle.' }],
    ],
    passedOver: [
      told('What does Otto mend?', 'Nora: A clock.'), told('What does Nora mend?', 'Nora mends a clock.'),
      ['Do Nora and Otto agree?', { text: 'Nora: A clock.' }, { text: 'Otto: A kettle.' }],
    ],
  },
  speaker_self: {
    liked: [told('What does Nora mend?', 'Nora: I mend clocks.')],
    passedOver: [
      told('What does Nora mend?', 'Nora: Otto mends clocks.'), told('What does Otto mend?', 'Nora: I mend clocks.'),
      told('What is mended?', 'I mend clocks.'),
    ],
  },
  user_said: {
    liked: [
      told('Where did I put the clock?', 'It stands here.', USER),
      told('Can you suggest a clock?', 'It stands here.', USER),
      told('Which clock do we own?', 'User: It stands here.'),
    ],
    passedOver: [
      told('Where did I put the clock?', 'It stands here.', ASSISTANT),
      told('Where is the clock?', 'It stands here.', USER),
      told('What did you tell me about clocks?', 'It stands here.', USER),
      told('Where did I put the clock?', 'It stands here.'),
    ],
  },
  assistant_said: {
    liked: [told(
      'Which clock did you recommend?', 'It stands here.', ASSISTANT,
    ), told('Remind me of the clock.', 'It stands here.', ASSISTANT),
    told('How did I plan to mend the clock?', 'It stands here.', ASSISTANT)],
    passedOver: [told(
      'Which clock did you recommend?', 'It stands here.', USER,
    ), told(
      'Which clock is mine?', 'It stands here.', ASSISTANT,
    ), told('Can you recommend a clock?', 'It stands here.', ASSISTANT),
    told('How can I mend the clock?', 'It stands here.', ASSISTANT)],
  },
  date: {
    liked: [
      ['What broke on 5 March 2025?', { occurredAt: Date.UTC(2025, 2, 5, 12) }],
      told('What broke on 5 March 2025?', 'On 5 March 2025 the clock broke.'),
      ['What broke on 5 March 2025?', { occurredAt: Date.UTC(2025, 2, 8) }],
    ],
    passedOver: [['What broke?', { occurredAt: NOW }], ['What broke on 5 March 2025?', { text: 'The clock broke.' }]],
  },
  time_told: {
    liked: [
      told('When did the clock break?', 'It broke on Monday.'),
      told('Which broke first, the clock or the kettle?', 'It broke on Monday.'),
    ],
    passedOver: [
      told('Why did the clock break?', 'It broke on Monday.'), told('When did the clock break?', 'It broke.'),
    ],
  },
  quantity_told: {
    liked: [
      told('How many loaves did I bake?', 'The oven held 40 of them.', USER),
      told('What was the price of the clock?', 'User: Ten crowns.'),
    ],
    passedOver: [
      told('How many loaves did I bake?', 'The oven held some of them.', USER),
      told('How many loaves did I bake?', 'The oven held 40 of them.', ASSISTANT),
      told('How many loaves did I bake?', 'The oven held 40 of them.'),
      told('Which loaves did I bake?', 'The oven held 40 of them.', USER),
    ],
  },
  name_told: {
    liked: [told('Who mends the clock?', 'It is mended by Otto.'), told('Where is the clock?', 'It is in Bergen.')],
    passedOver: [
      told('How is the clock mended?', 'It is mended by Otto.'),
      told('Who mends the clock?', 'It is mended by somebody.'), told('Where is the clock?', 'It is in the hall.'),
    ],
  },
  details: {
    liked: [
      told('clock', 'It stopped on Monday.', TALK), told('clock', 'Then it was taken to Bergen.', TALK),
      ['clock', { text: 'It stopped on Monday.', metadata: { speaker: 'Nora' }, ...TALK }],
    ],
    passedOver: [
      told('clock', 'It stopped.', TALK), told('clock', 'It stopped on Monday.'),
      told('clock', 'It stopped on Monday.', { ...TALK, ...USER }),
      told('clock', `It stopped on Monday. ${'The copper mill stands still. '.repeat(20)}`, TALK),
    ],
  },
  question: {
    liked: [told('clock', 'Did the clock stop?')],
    passedOver: [
      told('clock', 'The clock stopped.'),
      told('clock', `The old clock ${'of the copper mill '.repeat(8)} stopped, did it?`),
    ],
  },
  instruction: {
    liked: [
      told('How do I mend the clock?', 'Always show a drawing when I ask about clocks.', { ...USER, lexical: 0.1 }),
      told('clock', 'User: Never recommend a new clock.', { lexical: 0.1 }),
    ],
    passedOver: [
      told('clock', 'Always show a drawing when I ask about clocks.', { lexical: 0.1 }),
      told('clock', 'Always show a drawing when I ask about clocks.', { ...ASSISTANT, lexical: 0.1 }),
      told('clock', 'I always show a drawing of clocks.', { ...USER, lexical: 0.1 }),
      told('clock', 'Always show a drawing when I ask about clocks.', { ...USER, lexical: 0.1, own: 0 }),
      told('clock', 'Always show a drawing when I ask about clocks.', { ...USER, semantic: 0.9 }),
      told('clock', 'Never recommend a new clock.', { ...USER, lexical: 0.1, trust: 'untrusted' }),
      told('clock', 'Never recommend a new clock.', { ...USER, lexical: 0.1, trust: 'suspect' }),
      told('Which clock did you recommend?', 'Never recommend a clock.', { ...USER, lexical: 0.1 }),
      told('clock', `Always show a clock. ${'The old clock of the copper mill. '.repeat(15)}`, {
        ...USER, lexical: 0.1,
      }),
    ],
  },
  preference: {
    liked: [
      told('How should I go to Bergen?', 'I prefer ferries.', USER),
      told('Can you suggest a drink?', 'User: My favourite is tea.'),
    ],
    passedOver: [
      told('How did I go to Bergen?', 'I prefer ferries.', USER), told('How should I go to Bergen?', 'It rains.', USER),
      told('How should I go to Bergen?', 'I prefer ferries.', ASSISTANT),
      told('How should I go to Bergen?', 'Nora: I prefer ferries.'),
      told('Should I take the ferry that you recommended?', 'I prefer ferries.', USER),
    ],
  },
  reaction: {
    liked: [told('clock', 'Wow, the clock stopped.')],
    passedOver: [
      told('clock', 'The clock stopped.'),
      told('clock', `Absolutely! ${'The old clock of the copper mill. '.repeat(15)}`),
    ],
  },
}
for (const name of SCORER_NAMES) {
  t.test(`${name} scores what it is for, and gives 0 where that is absent`, async (t) => {
    for (const one of cases[name].liked) t.ok(given(name, ...one) > 0, JSON.stringify(one))
    for (const one of cases[name].passedOver) t.equal(given(name, ...one), 0, JSON.stringify(one))
  })
}

t.test('what the user said counts for more where advice is asked for', async (t) => {
  const said = { text: 'It stands here.', ...USER }
  t.ok(given('user_said', 'Can you suggest a clock for me?', said) > given('user_said', 'Which clock is mine?', said))
})

t.test('what the user said counts for less where the query asks how they did something', async (t) => {
  const said = { text: 'It stands here.', ...USER }
  const asked = given('user_said', 'How did I mend the clock?', said)
  t.ok(asked > 0 && asked < given('user_said', 'Where did I mend the clock?', said))
})

t.test('what the user said and demands counts for less in a longer query, and not in a very long one', async (t) => {
  const things = [
    'clock', 'kettle', 'boat', 'mill', 'bread', 'bridge', 'ferry', 'lamp', 'oven', 'rope', 'sail', 'barrel', 'anchor',
    'bell',
  ]
  const said = [
    ['user_said', 'It stands here.', 'Which are'], ['instruction', 'Always ask before a sale.', 'Which are'],
    ['quantity_told', 'Ten crowns.', 'How much are'],
  ] as const
  for (const [name, text, ask] of said) {
    const asked = (count: number) => given(name, `${ask} my ${things.slice(0, count).join(' ')}?`, {
      text, ...USER, lexical: 0.1,
    })
    t.equal(asked(8), asked(1))
    t.ok(asked(10) < asked(8) && asked(10) > asked(12) && asked(12) > 0)
    t.equal(asked(13), 0)
    t.equal(asked(14), 0)
  }
  t.equal(
    given('user_said', `Can you suggest ${things.join(' ')} for me?`, { text: 'It stands here.', ...USER }), 1,
    'in a request it counts',
  )
})

t.test('among instructions the better match counts for more, and together they count for at most two', async (t) => {
  const rule = (own: number) => ({ text: 'Always show a drawing of clocks.', ...USER, lexical: own })
  const share = (own: number, others: number[]) => given('instruction', 'clock', rule(own), ...others.map(rule))
  t.equal(share(0.1, []), 1)
  t.equal(share(0.1, [0.1]), 1)
  t.equal(share(0.2, [0.1]), 1)
  t.ok(Math.abs(share(0.1, [0.2]) - 2 / 3) < 1e-9)
  t.ok(Math.abs(share(0.1, Array.from({ length: 19 }, () => 0.1)) - 0.1) < 1e-9)
})

t.test('closeness in time falls day by day', async (t) => {
  const away = [0, 1, 3, 10, 100].map((days) => given('date', 'What broke on 5 March 2025?', {
    occurredAt: Date.UTC(2025, 2, 6) - 1 + days * DAY,
  }))
  t.equal(away[0], 1)
  t.ok(away.every((score, index) => index === 0 || score < away[index - 1]!))
})

t.test('more matches in a document count for more, and it is measured against the best document', async (t) => {
  const one = { lexical: 0.4, documentId: 'a' }
  const other = { lexical: 0.4, documentId: 'b' }
  t.equal(given('document', 'kettle', one, one, other), 1)
  const share = given('document', 'kettle', other, one, one)
  t.ok(share > 0 && share < 1)
})

t.test('a longer phrase counts for more, and a whole one for all', async (t) => {
  const query = 'old copper kettle lid'
  const shares = ['a kettle', 'a copper kettle', 'an old copper kettle', 'an old copper kettle lid'].map(
    (text) => given('phrase', query, { text }),
  )
  t.equal(shares[0], 0)
  t.equal(shares[3], 1)
  t.ok(shares[0]! < shares[1]! && shares[1]! < shares[2]! && shares[2]! < shares[3]!)
})

t.test('every scorer gives something within 0–1, whatever it is given', async () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(
    'Nora: I met Otto in Bergen on 5 March 2025, twice.', 'Wow! Did you?', 'copper kettle copper kettle copper kettle',
  ))
  const query = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(
    'When did Nora meet Otto?', 'How many kettles in March 2025?', 'copper kettle',
  ))
  const score = fc.double({ min: 0, max: 1, noNaN: true })
  const fields = fc.record(
    {
      text,
      lexical: score,
      own: score,
      semantic: score,
      documentId: fc.constantFrom(null, 'a', 'b'),
      occurredAt: fc.constantFrom(null, NOW, Date.UTC(2025, 2, 5)),
    },
    { requiredKeys: ['text'] },
  )
  fc.assert(fc.property(query, fc.array(fields, { minLength: 1, maxLength: 6 }), (asked, list) => {
    const question = analyzeQuery(asked, NOW)
    // A store never gives words of its own more than those with neighbours.
    const candidates = list.map(({ own = 0, lexical, ...rest }, index) => candidate(String(index), {
      ...rest, ...(lexical !== undefined && { lexical, own: Math.min(own, lexical) }),
    }))
    for (const prospect of rankingInputs(candidates, question, new SignalReader())) {
      for (const [name, score] of Object.entries(scoreBreakdown(prospect, question))) {
        assert.ok(score >= 0 && score <= 1, `${name} gives ${score}`)
      }
    }
  }))
})
