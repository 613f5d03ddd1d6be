import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadConversations, readConversations } from '../../bench/recall/conversation.js'
import { evidenceTurns, isAnswerable, turnContent } from '../../bench/recall/protocol.js'

const turn = { speaker: 'Ann', dia_id: 'D1:1', text: 'Hello!' }
const sample = {
  sample_id: 'one',
  conversation: { speaker_a: 'Ann', speaker_b: 'Bo', session_1: [turn], session_1_date_time: '1:56 pm on 8 May, 2023' },
  qa: [{ question: 'Who?', answer: 'Ann', evidence: ['D1:1'], category: 4 }],
}
const read = (value: unknown) => readConversations(typeof value === 'string' ? value : JSON.stringify(value), 'data.json')

await t.test('sessions come in the order of their numbers', async (t) => {
  const conversation = { ...sample.conversation, session_10: [], session_10_date_time: '1:00 am on 2 June, 2023', session_2: [], session_2_date_time: '1:00 am on 1 June, 2023' }
  const [found] = read([{ ...sample, conversation }])
  t.strictSame(found?.sessions.map(({ id }) => id), ['session_1', 'session_2', 'session_10'])
  t.equal(found?.sessions[0]?.startsAt, Date.UTC(2023, 4, 8, 13, 56))
})

await t.test('a file that cannot be used is refused in words that say where', async (t) => {
  const without = (key: 'session_1_date_time') => ({ ...sample.conversation, [key]: undefined })
  t.throws(() => read('nothing'), { message: /^data\.json is not JSON/ })
  t.throws(() => read([]), { message: /data\.json is not as expected/ })
  t.throws(() => read([{ ...sample, qa: [{ question: 'Who?', evidence: ['D1:1'], category: 9 }] }]), { message: /\/0 is not as expected:\n {2}\/qa\/0\/category: must be <= 5/ })
  t.throws(() => read([{ ...sample, conversation: { ...sample.conversation, session_1: [{ ...turn, text: 3 }] } }]), { message: /\/0 is not as expected:\n {2}\/conversation\/session_1\/0\/text: must be string/ })
  t.throws(() => read([{ ...sample, conversation: without('session_1_date_time') }]), { message: /session_1_date_time/ })
  t.throws(() => read([{ ...sample, conversation: { ...sample.conversation, session_2: [] } }]), { message: 'data.json, one: session_2 has no session_2_date_time' })
  t.throws(() => read([{ ...sample, conversation: { ...sample.conversation, session_1_date_time: 'yesterday' } }]), { message: /session_1_date_time is "yesterday"/ })
  await t.rejects(loadConversations('/does/not/exist.json'), { message: /cannot be read/ })
})

await t.test('a question may say when it is asked', async (t) => {
  const [question] = sample.qa
  const [found] = read([{ ...sample, qa: [question, { ...question, question_date: '2023/06/30 (Fri) 23:40' }] }])
  t.strictSame(found?.questions.map(({ askedAt }) => askedAt), [undefined, Date.UTC(2023, 5, 30, 23, 40)])
  t.throws(() => read([{ ...sample, qa: [{ ...question, question_date: 'today' }] }]), { message: /^data\.json, one: question_date of \/qa\/0 is "today"/ })
})

await t.test('isolated facts are sessions of one turn, without time and speaker', async (t) => {
  const [found] = read([{ sample_id: 'facts', isolated: true, facts: [{ dia_id: 'F1', text: 'It rains.' }], qa: [] }])
  t.strictSame(found, { id: 'facts', isolated: true, sessions: [{ id: 'F1', startsAt: NaN, turns: [{ dia_id: 'F1', text: 'It rains.' }] }], questions: [] })
  t.equal(turnContent(found!.sessions[0]!.turns[0]!), 'It rains.')
  t.throws(() => read([{ sample_id: 'facts', isolated: true, qa: [] }]), { message: /must have required property 'facts'/ })
})

const own = async (name: string) => (await loadConversations(fileURLToPath(new URL(`../../bench/recall/${name}`, import.meta.url))))[0]!
const expected = [
  { name: 'own-conversation.json', isolated: false, sessions: 7, turns: 134, questions: 42 },
  { name: 'own-conversation-2.json', isolated: false, sessions: 8, turns: 142, questions: 42 },
  { name: 'own-facts.json', isolated: true, sessions: 120, turns: 120, questions: 60 },
]
for (const { name, isolated, ...counts } of expected) {
  await t.test(`${name}, which comes with the project, is sound`, async (t) => {
    const { sessions, questions, ...rest } = await own(name)
    const turns = sessions.flatMap((session) => session.turns)
    const asked = questions.filter(isAnswerable)
    t.strictSame({ sessions: sessions.length, turns: turns.length, questions: asked.length }, counts)
    t.equal(rest.isolated, isolated)
    const ids = new Set(turns.map((turn) => turn.dia_id))
    t.equal(ids.size, turns.length, 'turn ids are unique')
    t.equal(new Set(turns.map(turnContent)).size, turns.length, 'no turn is said twice')
    t.equal(new Set(questions.map(({ question }) => question)).size, questions.length, 'no question is asked twice')
    t.strictSame([...new Set(asked.map(({ category }) => category))].sort(), [1, 2, 3, 4])
    for (const { question, evidence } of questions) t.ok(evidence.length > 0 && evidenceTurns(evidence, ids).size === evidence.length, question)
    const starts = sessions.map(({ startsAt }) => startsAt).filter((startsAt) => !Number.isNaN(startsAt))
    t.strictSame(starts, [...starts].sort((a, b) => a - b), 'sessions follow each other')
    t.equal(starts.length, isolated ? 0 : counts.sessions)
  })
}
