import t from 'tap'
import { testApp, type TestApp } from '../helpers/app.js'
import { parseEvents } from '../helpers/events.js'

interface Source {
  text: string
  state: string
}

/** What the answer is given, whether or not it abstains. */
async function evidence ({ post }: TestApp, query: string, more: Record<string, unknown> = {}): Promise<Source[]> {
  const response = await post(
    '/v1/reflect', { bank_id: 'home', query, include_sources: 'all', ...more }, { accept: 'text/event-stream' },
  )
  if (response.statusCode !== 200) throw new Error(response.body)
  const [first] = parseEvents(response.body) as unknown as [{ data: { sources: Source[] } }]
  return first.data.sources
}

t.test('a question that only the superseded fact answers in its words finds what took its place', async (t) => {
  const app = await testApp(t)
  await app.retain('home', 'I am based in Toronto.', { key: 'me/home', speaker: 'user', tags: ['a'] })
  for (const text of ['The weather was fine today.', 'We had soup for dinner.']) await app.retain('home', text)
  await app.retain('home', 'Since August I call Halifax home.', { key: 'me/home', speaker: 'user', tags: ['a'] })
  const texts = (await evidence(app, 'Where am I based?')).map(({ text }) => text)
  t.ok(texts.includes('Since August I call Halifax home.'), texts.join('; '))
  t.notOk(texts.includes('I am based in Toronto.'), 'what was superseded is no evidence')
  t.same(await evidence(app, 'Where am I based?', { tags: ['b'] }), [], 'filters hold for it')
})

t.test('a question for what was so before is given both, and a state that is named is kept to', async (t) => {
  const app = await testApp(t)
  await app.retain('home', 'I live in Rome.', { key: 'me/home', speaker: 'user' })
  await app.retain('home', 'I live in Milan.', { key: 'me/home', speaker: 'user' })
  const both = await evidence(app, 'Where did I live before?')
  t.same(both.map(({ text, state }) => `${text} ${state}`).sort(), [
    'I live in Milan. current', 'I live in Rome. superseded',
  ])
  const answer = (await app.post('/v1/reflect', { bank_id: 'home', query: 'Where did I live before?' })).json<{
    answer: string
  }>()
  t.match(answer.answer, /Earlier: User: "I live in Rome\." \[\d\]/)
  const current = await evidence(app, 'Where did I live before?', { state: 'current' })
  t.same(current.map(({ text }) => text), ['I live in Milan.'])
  t.same((await evidence(app, 'Where do I live?')).map(({ text }) => text), ['I live in Milan.'])
})

t.test('what was so before is told beside what differs from it in a number alone', async (t) => {
  const app = await testApp(t)
  for (const hours of [32, 38]) await app.retain('home', `Ada works ${hours} hours a week.`, { key: 'ada/hours' })
  const { answer } = (await app.post('/v1/reflect', {
    bank_id: 'home', query: 'How many hours a week did Ada work before?',
  })).json<{ answer: string }>()
  t.match(answer, /^Earlier: "Ada works 32 hours a week\." \[\d\]/)
})

t.test('what was so before stands beside what is current, however well that matches', async (t) => {
  const app = await testApp(t)
  const said = ['Hours at work go up from September.', 'We moved to the new office.', 'The show is about Jupiter.']
  for (const text of said) {
    await app.retain('home', text, { speaker: 'Ada', document_id: 'chat' })
  }
  for (const place of ['agency', 'planetarium']) {
    await app.retain('home', `Ada works at the ${place}.`, { key: 'ada/job' })
  }
  for (const query of ['Where did Ada work before?', 'Where did Ada use to work?']) {
    const { answer } = (await app.post('/v1/reflect', { bank_id: 'home', query })).json<{ answer: string }>()
    t.match(answer, /^Earlier: .*"Ada works at the agency\." \[\d\]/m, query)
  }
  const { answer } = (await app.post('/v1/reflect', { bank_id: 'home', query: 'Where does Ada work?' })).json<{
    answer: string
  }>()
  t.match(answer, /"Ada works at the planetarium\." \[\d\]/)
  t.notMatch(answer, /agency/)
})
