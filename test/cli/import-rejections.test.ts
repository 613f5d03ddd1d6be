import t from 'tap'
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

t.test('an import from another product ends at an error that concerns no single memory', async (t) => {
  const { cli } = await cliServer(t, { file: { bounds: { import_lines: 2 } } })
  const stdin = JSON.stringify([fact(0), fact(1)])
  const whole = await cli(['import', 'facts', '--from', 'mem0'], { stdin })
  t.same([whole.code, whole.stdout], [1, ''])
  t.match(whole.stderr, /^The import has more than 2 lines \(bounds\.import_lines\) \(body_too_large, request \S+\)\n$/)
  const { cli: closed } = await cliServer(t, {
    file: { access_control: { enabled: true, default_policy: 'deny' } },
  })
  const denied = await closed(['import', 'facts', '--from', 'mem0'], {
    stdin, env: { MEMORY_GATEWAY_PRINCIPAL: 'user:ada' },
  })
  t.equal(denied.code, 1)
  t.match(denied.stderr, /access_denied/)
  t.notMatch(denied.stderr, /rejected/)
})
