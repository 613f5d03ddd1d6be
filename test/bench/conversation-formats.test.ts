import t from 'tap'
import { partOf, readConversations } from '../../bench/recall/conversation.js'
import { contentsOf } from '../../bench/recall/formats/format.js'

const read = (value: unknown) => readConversations(JSON.stringify(value), 'data.json')

const question = {
  question_id: 'q1',
  question_type: 'multi-session',
  question: 'How often?',
  question_date: '2023/05/30 (Tue) 10:18',
  answer: 'twice',
  answer_session_ids: ['s2'],
  haystack_dates: ['2023/05/20 (Sat) 07:47', '2023/05/21 (Sun) 03:29', '2023/05/29 (Mon) 01:00'],
  haystack_session_ids: ['s1', 's2', 's1'],
  haystack_sessions: [
    [
      { role: 'user', content: 'Hello.' }, { role: 'assistant', content: '  ' },
      { role: 'assistant', content: 'Hi.', has_answer: false },
    ],
    [{ role: 'user', content: 'I ran twice.', has_answer: true }],
    [{ role: 'user', content: 'Hello.' }],
  ],
}

await t.test('each question of LongMemEval has its own bank', async (t) => {
  const [found] = read([question])
  const first = Date.UTC(2023, 4, 20, 7, 47)
  t.strictSame(found, {
    id: 'q1',
    format: 'longmemeval',
    hasDocuments: true,
    depth: 100,
    sessions: [
      // The session that the data have twice is read once, and the blank turn leaves its second free.
      {
        id: 's1',
        turns: [
          { id: 's1:0', contents: ['Hello.'], role: 'user', occurredAt: first },
          { id: 's1:2', contents: ['Hi.'], role: 'assistant', occurredAt: first + 2000 },
        ],
      },
      {
        id: 's2',
        turns: [{ id: 's2:0', contents: ['I ran twice.'], role: 'user', occurredAt: Date.UTC(2023, 4, 21, 3, 29) }],
      },
    ],
    questions: [
      {
        index: 0,
        text: 'How often?',
        answer: 'twice',
        category: 'multi-session',
        evidence: ['s2:0'],
        sessions: ['s2'],
        askedAt: Date.UTC(2023, 4, 30, 10, 18),
      },
    ],
  })
})

await t.test('unusable data of LongMemEval are refused with a message that names the place', async (t) => {
  t.throws(() => read([{ ...question, haystack_dates: [] }]), {
    message: /\/0: haystack_sessions, haystack_session_ids and haystack_dates are not of one length/,
  })
  for (const date of ['yesterday', '2023/02/30 (Thu) 10:00', '2023/13/01 (Sun) 10:00', '2023/05/30 (Tue) 24:00']) {
    t.throws(
      () => read([{ ...question, question_date: date }]),
      { message: /\/0\/question_date is .* not like "2023\/05\/30 \(Tue\) 10:18"/ }, date,
    )
  }
})

const chat = {
  id: '100K/1',
  chat: [
    {
      batch_number: 1,
      turns: [
        [
          { role: 'user', id: 0, content: 'Plan this. ->-> 1,1', time_anchor: 'March-15-2024' },
          { role: 'assistant', id: 1, content: 'A plan.' },
        ],
      ],
    },
    {
      batch_number: 2,
      turns: [
        [{ role: 'user', id: 2, content: 'Again.', time_anchor: 'March-15-2024' }],
        [
          { role: 'user', id: 3, content: 'Later.', time_anchor: 'April-02-2024' },
          { role: 'assistant', id: 4, content: ' ->-> 2,2', time_anchor: null },
        ],
      ],
    },
  ],
  probing_questions: {
    abstention: [{ question: 'Who knows?', source_chat_ids: [0] }],
    knowledge_update: [
      { question: 'When?', source_chat_ids: { before: [0], after: [{ deep: 3 }, 3, 99] } },
      { question: 'Nothing?', source_chat_ids: [99] },
    ],
    temporal: [{ question: 'What was last week?', source_chat_ids: 1, question_date: 'March-22-2024' }],
  },
}

await t.test('each chat of BEAM has its own bank, and each batch is a document', async (t) => {
  const [found] = read([chat])
  const [march, april] = [Date.UTC(2024, 2, 15), Date.UTC(2024, 3, 2)]
  t.strictSame(found, {
    id: '100K/1',
    format: 'beam',
    hasDocuments: true,
    depth: 25,
    sessions: [
      {
        id: 'batch-1',
        turns: [
          { id: '0', contents: ['Plan this.'], role: 'user', occurredAt: march },
          { id: '1', contents: ['A plan.'], role: 'assistant', occurredAt: march + 1000 },
        ],
      },
      // An anchor of the same day does not put a message before the one that it follows.
      {
        id: 'batch-2',
        turns: [
          { id: '2', contents: ['Again.'], role: 'user', occurredAt: march + 2000 },
          { id: '3', contents: ['Later.'], role: 'user', occurredAt: april },
        ],
      },
    ],
    questions: [
      {
        index: 1,
        text: 'When?',
        answer: undefined,
        category: 'knowledge_update',
        evidence: ['0', '3'],
        sessions: ['batch-1', 'batch-2'],
        askedAt: undefined,
      },
      {
        index: 3,
        text: 'What was last week?',
        answer: undefined,
        category: 'temporal',
        evidence: ['1'],
        sessions: ['batch-1'],
        askedAt: Date.UTC(2024, 2, 22),
      },
    ],
  })
})

await t.test('a chat without a time is refused', async (t) => {
  t.throws(
    () => read([{ ...chat, chat: [{ batch_number: 1, turns: [[{ role: 'user', id: 0, content: 'Hm.' }]] }] }]),
    { message: /no message has a time_anchor/ },
  )
  t.throws(
    () => read([
      {
        ...chat,
        chat: [
          { batch_number: 1, turns: [[{ role: 'user', id: 0, content: 'Hm.', time_anchor: 'Brumaire-18-1799' }]] },
        ],
      },
    ]),
    { message: /"Brumaire-18-1799", not like "March-15-2024"/ },
  )
})

await t.test('a text that is too long for one memory becomes several memories', async (t) => {
  t.strictSame(contentsOf('abcdefg', 3), ['abc', 'def', 'g'])
  t.strictSame(contentsOf('ab😀c', 3), ['ab', '😀c'], 'a surrogate pair stays whole')
  t.strictSame(contentsOf('abc   def', 3), ['abc', 'def'], 'a blank part is no memory')
  t.strictSame(contentsOf(' '), [])
})

await t.test('a sample is spread over the categories, and is the same each time', async (t) => {
  const of = (id: string, category: string) => ({ ...question, question_id: id, question_type: category })
  const all = read([of('a1', 'a'), of('a2', 'a'), of('a3', 'a'), of('b1', 'b'), of('c1', 'c'), of('c2', 'c')])
  t.strictSame(partOf(all, 5).map(({ id }) => id), ['a1', 'b1', 'c1', 'a2', 'c2'])
  t.strictSame(partOf(all, 99).length, 6)
})
