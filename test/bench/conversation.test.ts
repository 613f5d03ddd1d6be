import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadConversations, readConversations } from '../../bench/recall/conversation.js'
import { evidenceTurns, isAnswerable } from '../../bench/recall/protocol.js'

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
  t.throws(() => read([{ ...sample, qa: [{ question: 'Who?', evidence: ['D1:1'], category: 9 }] }]), { message: /\/0\/qa\/0\/category: must be <= 5/ })
  t.throws(() => read([{ ...sample, conversation: { ...sample.conversation, session_1: [{ ...turn, text: 3 }] } }]), { message: /\/0\/conversation\/session_1\/0\/text: must be string/ })
  t.throws(() => read([{ ...sample, conversation: without('session_1_date_time') }]), { message: /session_1_date_time/ })
  t.throws(() => read([{ ...sample, conversation: { ...sample.conversation, session_2: [] } }]), { message: 'data.json, one: session_2 has no session_2_date_time' })
  t.throws(() => read([{ ...sample, conversation: { ...sample.conversation, session_1_date_time: 'yesterday' } }]), { message: /session_1_date_time is "yesterday"/ })
  await t.rejects(loadConversations('/does/not/exist.json'), { message: /cannot be read/ })
})

await t.test('the conversation that comes with the project is sound', async (t) => {
  const [own] = await loadConversations(fileURLToPath(new URL('../../bench/recall/own-conversation.json', import.meta.url)))
  const all = own?.sessions.flatMap(({ turns }) => turns) ?? []
  const ids = new Set(all.map((turn) => turn.dia_id))
  t.equal(ids.size, all.length, 'turn ids are unique')
  t.ok(own!.sessions.length >= 6 && all.length >= 120)
  const asked = own!.questions.filter(isAnswerable)
  t.ok(asked.length >= 40)
  t.strictSame([...new Set(asked.map(({ category }) => category))].sort(), [1, 2, 3, 4])
  for (const { question, evidence } of own!.questions) t.equal(evidenceTurns(evidence, ids).size, evidence.length, question)
})
