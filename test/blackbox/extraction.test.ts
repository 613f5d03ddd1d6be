import { writeFileSync } from 'node:fs'
import t from 'tap'
import type { MemoryRecord } from '../../lib/operations/schemas.js'
import { testApp } from '../helpers/app.js'
import { testClock } from '../helpers/clock.js'
import { says, startLanguageServer, type Behaviour, type LanguageRequest } from '../helpers/language-server.js'
import { startServer } from '../helpers/server.js'

const ROUNDS = 3

/** One fact of each turn. */
function answer ({ user }: LanguageRequest): string {
  const turns = [...user.matchAll(/^\[(\d+)\] (.*)$/gm)]
  return JSON.stringify({
    facts: turns.map(([, number, json]) => ({
      text: `Said: ${(JSON.parse(json!) as { text: string }).text}`,
      speaker: null,
      key: null,
      valid_from: null,
      valid_until: null,
      sources: [Number(number)],
    })),
  })
}

t.test('whenever a gateway is killed, each turn gets its fact, once', async (t) => {
  const model = await startLanguageServer(t)
  const directory = t.testdir({ data: {} })
  const file = {
    vector_store: 'pglite',
    vector_store_config: { data_dir: `${directory}/data` },
    embedding_provider: 'mock',
    llm_provider: 'openai_compatible',
    llm_provider_config: { base_url: model.url, model: 'facts' },
    extraction: { mode: 'facts' as const },
  }
  const config = `${directory}/config.json`
  writeFileSync(config, JSON.stringify(file))
  const texts: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startServer(t, { SERVICES_CONFIG_PATH: config })
    // Before the answer, with it, and while it is being stored.
    const kill = () => { server.process.kill('SIGKILL') }
    const killing: Behaviour = (request, response) => {
      if (round === 0) return kill()
      void says(answer)(request, response)
      if (round === 1) kill()
      else setTimeout(kill, round)
    }
    model.always(killing)
    const content = `turn ${round}`
    texts.push(content)
    const stored = await fetch(`${server.url}/v1/retain`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ bank_id: 'home', content }),
    })
    t.equal(stored.status, 200)
    t.equal(await server.ended, 'SIGKILL')
  }
  model.always(says(answer))
  const clock = testClock(new Date(Date.now() + 12 * 3_600_000).toISOString())
  const { app, get } = await testApp(t, { file }, { clock })
  await app.memory.idle()
  const { memories } = (await get('/v1/banks/home/memories?limit=100')).json<{ memories: MemoryRecord[] }>()
  const facts = memories.filter(({ kind }) => kind === 'fact')
  t.same(facts.map(({ text }) => text).sort(), texts.map((text) => `Said: ${text}`).sort())
  t.ok(facts.every(({ derived_from: sources = [] }) => sources.length === 1))
  t.equal(memories.length, 2 * ROUNDS)
})
