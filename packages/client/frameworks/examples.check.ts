import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startGateway } from './gateway.ts'
import { startOpenAiEndpoint } from './openai-endpoint.ts'

const EXAMPLES = fileURLToPath(new URL('../examples', import.meta.url))
const NAMES = readdirSync(EXAMPLES).filter((name) => name.endsWith('.ts'))

const { url } = await startGateway()
const endpoint = await startOpenAiEndpoint()

async function run (name: string, prompt: string): Promise<string> {
  const env = {
    PATH: process.env['PATH'],
    MEMORY_GATEWAY_URL: url,
    OPENAI_API_KEY: 'a key of no one',
    OPENAI_BASE_URL: endpoint,
    OPENAI_AGENTS_DISABLE_TRACING: '1',
    MASTRA_TELEMETRY_DISABLED: '1',
    LANGSMITH_TRACING: 'false',
  }
  return (await promisify(execFile)(
    process.execPath, [`${EXAMPLES}/${name}`, prompt], { env, timeout: 120_000 },
  )).stdout
}

assert.deepEqual(NAMES, ['ai-sdk.ts', 'langchain.ts', 'mastra.ts', 'openai-agents.ts'])
for (const name of NAMES) {
  test(`${name}, as it stands, remembers from one run to the next`, async () => {
    const fact = `Alice told ${name} that she is allergic to peanuts.`
    assert.match(await run(name, fact), /The memory says: Stored\./)
    assert.match(await run(name, `What did Alice tell ${name}?`), new RegExp(`The memory says: .*\n\\[1\\] .*${fact}`))
  })
}
