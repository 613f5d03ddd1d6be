import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadConversations } from '../../bench/recall/conversation.js'

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
