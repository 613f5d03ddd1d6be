import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runCli } from '../helpers/cli.js'

/** Clears the screen, sets the title of the window, turns the direction of text, ends all of it. */
const EVIL = 'a\u001b[2J\u001b]0;x\u0007\u202eb\u2066c\u009b1m\u0085\rd'
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

const HIT = {
  memory_id: EVIL,
  bank_id: EVIL,
  text: EVIL,
  tags: [EVIL],
  metadata: {},
  occurred_at: EVIL,
  retained_at: EVIL,
  document_id: EVIL,
  source: EVIL,
  speaker: EVIL,
  score: 1,
  scores: { [EVIL]: 1, lexical: { rank: 1, score: 1, [EVIL]: EVIL } },
}
const ANSWERS: Record<string, unknown> = {
  '/v1/recall': {
    hits: [HIT],
    total_available: 1,
    truncated: false,
    usage: { tokens: 1 },
    degraded: [EVIL],
    trace: { stages: [{ name: EVIL, duration_ms: 1 }], strategies: [{ name: EVIL, weight: 1, candidates: 1 }] },
  },
  '/v1/banks': { banks: [{ bank_id: EVIL, memory_count: 1, last_retained_at: EVIL }], next_cursor: null },
  '/v1/forget': { deleted_count: 1, memory_ids: [EVIL], sample: [{ memory_id: EVIL, text: EVIL }] },
  '/v1/retain': { stored: true, memory_id: EVIL, bank_id: EVIL, deduplicated: false, chunk_count: 1, trust: EVIL },
}
const HOME = '/v1/banks/home'
const PROPOSAL = {
  id: EVIL,
  memory_id: 'new',
  may_supersede: 'old',
  because: EVIL,
  created_at: EVIL,
  state: EVIL,
  decided_at: EVIL,
  decided_by: EVIL,
}
const MESSAGE = { id: EVIL, memory_id: EVIL, role: EVIL, name: EVIL, content: EVIL, created_at: EVIL }
Object.assign(ANSWERS, {
  [`${HOME}/proposals`]: { proposals: [PROPOSAL], next_cursor: null },
  [`${HOME}/memories/new`]: HIT,
  [`${HOME}/memories/old`]: HIT,
  [`${HOME}/proposals/x/accept`]: { ...PROPOSAL, memory_id: EVIL, may_supersede: EVIL },
  [`${HOME}/conversations`]: {
    conversations: [{ conversation_id: EVIL, message_count: 1, last_message_at: EVIL }], next_cursor: null,
  },
  [`${HOME}/conversations/x/messages`]: { messages: [MESSAGE], next_cursor: null },
  [`${HOME}/conversations/x`]: { deleted_count: 1, memory_ids: [EVIL] },
})
const DONE = { answer: EVIL, sources: [HIT], degraded: [EVIL], abstained: true }
const STREAM = ['event: delta', `data: ${JSON.stringify({ text: EVIL })}`, '', 'event: done',
  `data: ${JSON.stringify(DONE)}`, '', ''].join('\n')

/** A server that puts such characters into every text of its answers. */
async function hostileServer (t: Test): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    const { pathname } = new URL(request.url ?? '/', 'http://host')
    const stream = pathname === '/v1/reflect'
    response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json')
    const found = ANSWERS[pathname]
    if (!stream && found === undefined) response.statusCode = 403
    response.end(stream ? STREAM : JSON.stringify(found ?? { code: EVIL, detail: EVIL, status: 403 }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.close() })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('no command lets control characters of a server reach the terminal', async (t) => {
  const env = { MEMORY_GATEWAY_URL: await hostileServer(t) }
  for (const args of [
    ['recall', 'home', 'x', '--explain'], ['recall', 'home', 'x', '--explain', '--json'], ['reflect', 'home', 'x'],
    ['reflect', 'home', 'x', '--json'], ['banks'], ['banks', '--json'], ['forget', 'home', '--id', 'x', '--dry-run'],
    ['retain', 'home', 'x'], ['retain', 'home', 'x', '--json'], ['export', 'home'],
    ['proposals', 'list', 'home'], ['proposals', 'list', 'home', '--json'], ['proposals', 'accept', 'home', 'x'],
    ['conversations', 'list', 'home'], ['conversations', 'list', 'home', '--json'],
    ['conversations', 'show', 'home', 'x'], ['conversations', 'show', 'home', 'x', '--json'],
    ['conversations', 'delete', 'home', 'x'],
  ]) {
    const { stdout, stderr } = await runCli(args, { env })
    const shown = stdout + stderr
    t.match(shown, /a.*b.*c/s, `${args.join(' ')} shows the texts`)
    t.notMatch(shown, CONTROLS, args.join(' '))
    t.notMatch(stderr, /\n {4}at /)
  }
  const { stdout } = await runCli(['recall', 'home', 'x', '--json'], { env })
  t.same(JSON.parse(stdout).hits, [HIT], 'JSON has the texts themselves, as escapes')
})

t.test('a deeply nested export of another product ends with a message', async (t) => {
  const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
  const cwd = t.testdir({
    'mem0.json': `{"results":[{"memory":"x","metadata":{"deep":${deep}}}]}`,
    'langgraph.json': `[{"key":"k","namespace":["n"],"value":${deep}}]`,
    'deep.json': deep,
  })
  for (const [file, ...from] of [
    ['mem0.json', '--from', 'mem0'], ['langgraph.json', '--from', 'langgraph'], ['mem0.json'], ['deep.json'],
  ]) {
    const { code, stderr } = await runCli(['import', 'home', join(cwd, file!), ...from], {
      env: { MEMORY_GATEWAY_URL: await hostileServer(t) },
    })
    t.equal(code, 1)
    t.notMatch(stderr, /RangeError|\n {4}at /, `${file} ${from.join(' ')}`)
    if (from.length > 0) t.match(stderr, /nested too deeply/)
  }
})
