import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadConversations, readConversations } from '../../bench/recall/conversation.js'

const turn = { speaker: 'Ann', dia_id: 'D1:1', text: 'Hello!' }
const sample = {
  sample_id: 'one',
  conversation: { speaker_a: 'Ann', speaker_b: 'Bo', session_1: [turn], session_1_date_time: '1:56 pm on 8 May, 2023' },
  qa: [{ question: 'Who?', answer: 'Ann', evidence: ['D1:1'], category: 4 }],
}
const read = (value: unknown) => readConversations(
  typeof value === 'string' ? value : JSON.stringify(value), 'data.json',
)

await t.test('sessions are in the order of their numbers', async (t) => {
  const conversation = {
    ...sample.conversation,
    session_10: [],
    session_10_date_time: '1:00 am on 2 June, 2023',
    session_2: [],
    session_2_date_time: '1:00 am on 1 June, 2023',
  }
  const [found] = read([{ ...sample, conversation }])
  t.strictSame(found?.sessions.map(({ id }) => id), ['session_1', 'session_2', 'session_10'])
  t.strictSame(found?.sessions[0]?.turns, [
    {
      id: 'D1:1',
      contents: ['Ann: Hello!'],
      role: undefined,
      apart: { speaker: 'Ann', contents: ['Hello!'] },
      occurredAt: Date.UTC(2023, 4, 8, 13, 56),
    },
  ])
})

await t.test('an unusable file is refused with a message that names the place', async (t) => {
  const without = (key: 'session_1_date_time') => ({ ...sample.conversation, [key]: undefined })
  t.throws(() => read('nothing'), { message: /^data\.json is not JSON/ })
  t.throws(() => read([]), { message: /data\.json is not as expected/ })
  t.throws(
    () => read([{ ...sample, qa: [{ question: 'Who?', evidence: ['D1:1'], category: 9 }] }]),
    { message: /\/0 is not as expected:\n {2}\/qa\/0\/category: must be <= 5/ },
  )
  t.throws(
    () => read([{ ...sample, conversation: { ...sample.conversation, session_1: [{ ...turn, text: 3 }] } }]),
    { message: /\/0 is not as expected:\n {2}\/conversation\/session_1\/0\/text: must be string/ },
  )
  t.throws(
    () => read([{ ...sample, conversation: without('session_1_date_time') }]), { message: /session_1_date_time/ },
  )
  t.throws(
    () => read([{ ...sample, conversation: { ...sample.conversation, session_2: [] } }]),
    { message: 'data.json, one: session_2 has no session_2_date_time' },
  )
  t.throws(
    () => read([{ ...sample, conversation: { ...sample.conversation, session_1_date_time: 'yesterday' } }]),
    { message: /session_1_date_time is "yesterday"/ },
  )
  await t.rejects(loadConversations('/does/not/exist.json'), { message: /cannot be read/ })
})

await t.test('an entry without a turn is no evidence; a question without evidence or answer is skipped', async (t) => {
  const [found] = read([{
    ...sample,
    qa: [
      { question: 'Nothing?', evidence: ['D9:9', ''], category: 4 },
      { question: 'Trap?', evidence: ['D1:1'], category: 5 },
      { question: 'Who?', evidence: ['D1:1; D9:9', 'D1:1'], category: 2 },
    ],
  }])
  t.strictSame(found?.questions, [
    {
      index: 2,
      text: 'Who?',
      answer: undefined,
      category: 'temporal',
      evidence: ['D1:1'],
      sessions: ['session_1'],
      askedAt: undefined,
    },
  ])
})

await t.test('a question may say when it is asked', async (t) => {
  const [question] = sample.qa
  const [found] = read([{ ...sample, qa: [question, { ...question, question_date: '2023/06/30 (Fri) 23:40' }] }])
  t.strictSame(found?.questions.map(({ askedAt }) => askedAt), [undefined, Date.UTC(2023, 5, 30, 23, 40)])
  t.throws(
    () => read([{ ...sample, qa: [{ ...question, question_date: 'today' }] }]),
    { message: /^data\.json, one: question_date of \/qa\/0 is "today"/ },
  )
})

await t.test('isolated facts are sessions of one turn, without time and speaker', async (t) => {
  const [found] = read([
    {
      sample_id: 'facts',
      isolated: true,
      facts: [{ dia_id: 'F1', text: 'It rains.' }],
      qa: [{ question: 'Rain?', evidence: ['F1'], category: 4 }],
    },
  ])
  t.strictSame(found?.sessions, [
    { id: 'F1', turns: [{ id: 'F1', contents: ['It rains.'], role: undefined, occurredAt: undefined }] },
  ])
  t.match(found, { format: 'facts', questions: [{ evidence: ['F1'], sessions: [] }] })
  t.throws(
    () => read([{ sample_id: 'facts', isolated: true, qa: [] }]), { message: /must have required property 'facts'/ },
  )
})

const own = async (name: string, place: number) => (
  (await loadConversations(fileURLToPath(new URL(`../../bench/recall/${name}`, import.meta.url))))[place]!
)
const TALK = ['multi-hop', 'open-domain', 'single-hop', 'temporal']
const ASSISTANT = ['assistant_said', 'knowledge_update', 'multi_session', 'preferences', 'temporal', 'user_facts']
const SIMPLE = ['multi-hop', 'single-hop', 'temporal']
const ARTICLES = ['double', 'single']
const expected: Array<{
  name: string, place?: number, format: string, sessions: number, turns: number, questions: number, categories: string[]
}> = [
  { name: 'own-conversation.json', format: 'talk', sessions: 7, turns: 134, questions: 42, categories: TALK },
  { name: 'own-conversation-2.json', format: 'talk', sessions: 8, turns: 142, questions: 42, categories: TALK },
  { name: 'own-facts.json', format: 'facts', sessions: 120, turns: 120, questions: 60, categories: TALK },
  { name: 'own-assistant.json', format: 'beam', sessions: 13, turns: 170, questions: 74, categories: ASSISTANT },
  { name: 'own-articles.json', format: 'beam', sessions: 8, turns: 133, questions: 60, categories: ARTICLES },
  { name: 'own-notes.json', format: 'talk', sessions: 12, turns: 49, questions: 31, categories: SIMPLE },
  { name: 'own-languages.json', format: 'talk', sessions: 7, turns: 60, questions: 30, categories: SIMPLE },
  { name: 'own-languages.json', place: 1, format: 'talk', sessions: 6, turns: 49, questions: 28, categories: SIMPLE },
  { name: 'own-languages.json', place: 2, format: 'talk', sessions: 8, turns: 62, questions: 29, categories: SIMPLE },
]
for (const { name, place = 0, format, categories, ...counts } of expected) {
  await t.test(`${name}, conversation ${place}, which is part of the project, is valid`, async (t) => {
    const { sessions, questions, ...rest } = await own(name, place)
    const turns = sessions.flatMap((session) => session.turns)
    t.strictSame({ sessions: sessions.length, turns: turns.length, questions: questions.length }, counts)
    t.equal(rest.format, format)
    t.equal(new Set(turns.map(({ id }) => id)).size, turns.length, 'turn ids are unique')
    t.equal(new Set(turns.flatMap(({ contents }) => contents)).size, turns.length, 'no turn occurs twice')
    t.equal(new Set(questions.map(({ text }) => text)).size, questions.length, 'no question is asked twice')
    t.strictSame([...new Set(questions.map(({ category }) => category))].sort(), categories)
    const times = turns.flatMap(({ occurredAt }) => occurredAt ?? [])
    t.strictSame(times, [...times].sort((a, b) => a - b), 'turns follow each other')
    t.equal(times.length, format === 'facts' ? 0 : counts.turns)
    for (const { text, askedAt } of questions) t.ok(askedAt === undefined || askedAt > times[0]!, text)
  })
}

await t.test('every piece of evidence that the data of the project name exists', async (t) => {
  const samples = JSON.parse(await readFile(new URL('../../bench/recall/own-assistant.json', import.meta.url), 'utf8'))
  const named =
    Object.values<Array<{ question: string, source_chat_ids: number[] }>>(samples[0].probing_questions).flat()
  const { questions } = await own('own-assistant.json', 0)
  t.strictSame(questions.map(({ evidence }) => evidence), named.map(({ source_chat_ids: ids }) => ids.map(String)))
})
