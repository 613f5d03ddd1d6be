import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { untilEmbedded } from '../../bench/recall/until-embedded.js'
import { startServer, type RunningServer } from '../helpers/server.js'

interface Answer {
  memory_id?: string
  hits?: Array<{ text: string }>
  answer?: string
  abstained?: boolean
}

async function post ({ url }: RunningServer, route: string, body: object): Promise<Answer> {
  const response = await fetch(`${url}/v1/${route}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ bank_id: 'home', ...body }),
  })
  if (response.status !== 200) throw new Error(`${route} answered ${response.status}: ${await response.text()}`)
  return await response.json() as Answer
}

async function embedded ({ url }: RunningServer): Promise<void> {
  await untilEmbedded(async () => await (await fetch(`${url}/v1/banks/home/stats`)).json(), { pauseMs: 20 })
}

async function stop (server: RunningServer): Promise<void> {
  server.process.kill('SIGTERM')
  await server.ended
}

const QUESTION = { query: 'Which theme should I use?' }
const PREFERENCE = 'I prefer dark mode.'

t.test('a server without a configuration finds what is meant, and answers with it', async (t) => {
  const server = await startServer(t)
  t.match(server.output(), /embedding_provider: auto chose local, because its packages are installed/)
  for (const content of [PREFERENCE, 'The dentist moved to Tuesday.', 'My brother paints boats.']) {
    await post(server, 'retain', { content })
  }
  await embedded(server)
  t.equal((await post(server, 'recall', QUESTION)).hits?.[0]?.text, PREFERENCE)
  t.match(await post(server, 'reflect', QUESTION), { abstained: false, answer: `"${PREFERENCE}" [1]` })
  t.match(await post(server, 'reflect', { query: 'How tall is the tower in Paris?' }), { abstained: true })
})

t.test('a data folder without vectors gets them, and banks with vectors of another model keep them', async (t) => {
  const folder = t.testdir({ data: {} })
  const start = async (more: object) => {
    const path = join(folder, 'gateway.yaml')
    const store = { vector_store: 'pglite', vector_store_config: { data_dir: './data' } }
    writeFileSync(path, JSON.stringify({ ...store, ...more }))
    return await startServer(t, { SERVICES_CONFIG_PATH: path })
  }
  const byWords = await start({ embedding_provider: 'mock' })
  const { memory_id: id } = await post(byWords, 'retain', { content: PREFERENCE })
  t.strictSame((await post(byWords, 'recall', QUESTION)).hits, [])
  await stop(byWords)

  const byMeaning = await start({})
  t.match(byMeaning.output(), /1 memories have no vector/)
  await embedded(byMeaning)
  t.equal((await post(byMeaning, 'recall', QUESTION)).hits?.[0]?.text, PREFERENCE)
  await post(byMeaning, 'forget', { memory_ids: [id] })
  await stop(byMeaning)

  const other = await start({ embedding_provider: 'mock', retrieval: { weights: { semantic: 1 } } })
  await post(other, 'retain', { content: PREFERENCE })
  await stop(other)

  const again = await start({})
  t.match(again.output(), new RegExp([
    String.raw`it is not set, and its default makes vectors of use-lite-en-1:512 \(512 dimensions\), but 1 bank has `,
    String.raw`vectors of mock:256 .*npm run reembed.*they are searched by words only`,
  ].join('')))
  t.strictSame((await post(again, 'recall', QUESTION)).hits, [])
  t.equal((await post(again, 'recall', { query: 'dark mode' })).hits?.[0]?.text, PREFERENCE)
})
