import t from 'tap'
import { BatchSize, type ImportBatch } from '../../cli/import-lines.js'
import { sendBatch } from '../../cli/commands/import.js'
import { MemoryGatewayError } from '../../packages/client/src/index.js'
import { cliServer } from '../helpers/cli.js'

/** A memory of Mem0 with more bytes of metadata than a gateway accepts. */
function tooLarge (id: number): object {
  return { id: String(id), memory: `Large fact number ${id}.`, metadata: { note: 'x'.repeat(20_000) } }
}

function fact (id: number): object {
  return { id: String(id), memory: `Fact number ${id}.` }
}

t.test('an import from another product stores all memories but those that the gateway rejects', async (t) => {
  const { cli } = await cliServer(t)
  const bad = new Set([0, 3, 4, 99])
  const memories = Array.from({ length: 100 }, (_, id) => bad.has(id) ? tooLarge(id) : fact(id))
  const stdin = JSON.stringify(memories)
  const first = await cli(['import', 'facts', '--from', 'mem0'], { stdin })
  t.equal(first.code, 1)
  t.match(first.stderr, /^rejected: \[0\]: metadata: .+\nrejected: \[3\]: .+\nrejected: \[4\]: .+\nrejected: \[99\]: /m)
  t.match(first.stderr, /\n96 imported, 0 already stored or expired, 4 rejected\nrejected memories: 4\n$/)
  const stored = (await cli(['export', 'facts'])).stdout.trim().split('\n').slice(1).map((line) => JSON.parse(line))
  t.same(
    stored.map(({ document_id: id }) => Number(id)).sort((a, b) => a - b),
    memories.map((_, id) => id).filter((id) => !bad.has(id)),
  )
  const again = await cli(['import', 'facts', '--from', 'mem0', '--json'], { stdin })
  t.same([again.code, JSON.parse(again.stdout)], [1, { imported: 0, skipped: 96, overwritten: 0, rejected: 4 }])
})

t.test('of many rejected memories the first twenty are named and the others counted', async (t) => {
  const { cli } = await cliServer(t)
  const stdin = JSON.stringify([...Array.from({ length: 30 }, (_, id) => tooLarge(id)), fact(30)])
  const { code, stderr } = await cli(['import', 'facts', '--from', 'mem0'], { stdin })
  t.equal(code, 1)
  t.equal(stderr.match(/^rejected: \[\d+\]: /gm)?.length, 20)
  t.match(stderr, /\nrejected: 10 more\n1 imported, 0 already stored or expired, 30 rejected\n/)
})

t.test('an import from another product ends at an error that concerns no memory', async (t) => {
  const { cli } = await cliServer(t, {
    file: { access_control: { enabled: true, default_policy: 'deny' } },
  })
  const denied = await cli(['import', 'facts', '--from', 'mem0'], {
    stdin: JSON.stringify([fact(0), fact(1)]), env: { MEMORY_GATEWAY_PRINCIPAL: 'user:ada' },
  })
  t.equal(denied.code, 1)
  t.match(denied.stderr, /access_denied/)
  t.notMatch(denied.stderr, /rejected/)
})

t.test('a batch that exceeds a bound of the server is sent in parts', async (t) => {
  const stdin = JSON.stringify(Array.from({ length: 23 }, (_, id) => id === 11 ? tooLarge(id) : fact(id)))
  for (const file of [
    { bounds: { import_lines: 4 } },
    { bounds: { import_bytes: 1000 } },
  ]) {
    const { cli } = await cliServer(t, { file })
    const { code, stderr } = await cli(['import', 'facts', '--from', 'mem0'], { stdin })
    t.equal(code, 1, JSON.stringify(file))
    t.match(stderr, /^rejected: \[11\]: (metadata: |Request body is too large: )/m)
    t.match(stderr, /\n22 imported, 0 already stored or expired, 1 rejected\nrejected memories: 1\n$/)
    const stored = (await cli(['export', 'facts'])).stdout.trim().split('\n').slice(1).map((line) => JSON.parse(line))
    t.same(
      stored.map(({ document_id: id }) => Number(id)).sort((a, b) => a - b),
      Array.from({ length: 23 }, (_, id) => id).filter((id) => id !== 11),
    )
  }
})

t.test('an export of a gateway is sent in parts, too, and an error names the line of the file', async (t) => {
  const { cli } = await cliServer(t, { file: { bounds: { import_bytes: 1000 } } })
  const header = '{"format":"memory-gateway-export","version":1}'
  const lines = Array.from({ length: 30 }, (_, id) => JSON.stringify({ text: `Fact number ${id}.` }))
  const whole = await cli(['import', 'facts'], { stdin: [header, ...lines].join('\n') })
  t.match(whole, { code: 0, stderr: '30 imported, 0 already stored or expired\n' })
  lines[20] = JSON.stringify({ text: 'x'.repeat(2000) })
  const refused = await cli(['import', 'facts'], { stdin: [header, ...lines].join('\n') })
  t.equal(refused.code, 1)
  t.match(refused.stderr, /line 22: Request body is too large: /)
})

t.test('a batch with more memories than the rate limit is sent in parts, and later ones are smaller', async (t) => {
  const size = new BatchSize()
  const stored: string[] = []
  const send = async (batch: ImportBatch) => {
    if (batch.length - 1 > 6) {
      const message = 'The import has more memories than import_per_minute (6) allows; split it'
      throw new MemoryGatewayError('invalid_request', message, { status: 400 })
    }
    t.equal(batch[0]!.json, 'header')
    stored.push(...batch.slice(1).map(({ json }) => json))
  }
  const items = Array.from({ length: 20 }, (_, index) => ({ json: `${index}`, place: `line ${index + 2}` }))
  await sendBatch([{ json: 'header', place: 'line 1' }, ...items], { send, size })
  t.same(stored, items.map(({ json }) => json))
  t.equal(size.memories, 5)
})
