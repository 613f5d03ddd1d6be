import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startGateway } from '../child-server.js'
import { UnusableInput } from '../checked.js'
import { JsonClient } from '../json-client.js'
import { runBench } from '../run-bench.js'
import { loadConversations } from './conversation.js'
import { measure } from './measure.js'
import { formatReport, makeReport } from './report.js'

const OWN_DATA = fileURLToPath(new URL('own-conversation.json', import.meta.url))
const USAGE = `npm run bench:recall -- [--data FILE] [--json FILE] [--url URL]
  --data FILE   conversations with questions, in the shape of LoCoMo; default: the project's own small one
  --json FILE   also writes the figures there
  --url URL     measures the server that runs there (dev mode) instead of starting the built one`

await runBench(async (args) => {
  const { values } = parseArgs({
    args,
    options: { data: { type: 'string' }, json: { type: 'string' }, url: { type: 'string' } },
  })
  const path = values.data ?? OWN_DATA
  const conversations = await loadConversations(path)
  const server = values.url === undefined ? await startGateway() : undefined
  const client = new JsonClient(server?.url ?? values.url!)
  try {
    const measurement = await measure(client, conversations, `bench-${Date.now().toString(36)}-`)
    if (measurement.outcomes.length === 0) throw new UnusableInput(`${path} has no question of category 1 to 4 with evidence`)
    const report = makeReport(basename(path), measurement)
    const json = JSON.stringify(report)
    console.log(`${formatReport(report)}\n\n${json}`)
    if (values.json !== undefined) await writeFile(values.json, `${json}\n`)
  } finally {
    client.close()
    await server?.stop()
  }
}, USAGE)
