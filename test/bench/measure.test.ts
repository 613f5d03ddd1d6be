import type { AddressInfo } from 'node:net'
import t from 'tap'
import { JsonClient } from '../../bench/json-client.js'
import { readConversations } from '../../bench/recall/conversation.js'
import { measure } from '../../bench/recall/measure.js'
import { testApp } from '../helpers/app.js'

await t.test('a question is asked at its date, where the data has one', async (t) => {
  const { app } = await testApp(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const client = new JsonClient(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  t.teardown(() => { client.close() })
  const question = { question: 'Which fence did you paint two weeks ago?', category: 2 }
  const conversations = readConversations(JSON.stringify([{
    sample_id: 'one',
    conversation: {
      speaker_a: 'Ann',
      speaker_b: 'Bo',
      session_1: [{ speaker: 'Ann', dia_id: 'D1:1', text: 'I painted the north fence.' }],
      session_1_date_time: '9:00 am on 16 February, 2024',
      session_2: [{ speaker: 'Ann', dia_id: 'D2:1', text: 'I painted the south fence.' }],
      session_2_date_time: '9:00 am on 10 August, 2024',
    },
    qa: [
      { ...question, evidence: ['D1:1'], question_date: '2024/03/01 (Fri) 12:00' },
      { ...question, evidence: ['D2:1'], question_date: '1:00 pm on 24 August, 2024' },
      { ...question, question: 'Which fence did you paint?', evidence: ['D1:1', 'D2:1'] },
    ],
  }]), 'data.json')
  const { outcomes } = await measure(client, conversations, 'bench-')
  t.strictSame(outcomes.map(({ ranks }) => ranks), [[1], [1], [1, 2]])
})
