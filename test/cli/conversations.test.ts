import { join } from 'node:path'
import t from 'tap'
import { cliServer } from '../helpers/cli.js'

const lines = (messages: readonly object[]) => messages.map((message) => JSON.stringify(message)).join('\n')
const TALK = [
  { role: 'user', content: 'I moved to Lyon.', name: 'Ada', created_at: '2026-01-05T09:30:00Z' },
  { role: 'tool', content: '42', tool_call_id: 'x' },
  { role: 'assistant', content: 'How is it?\nIs it warm?', created_at: '2026-01-05T09:31:00Z' },
]
const CHAT = [
  '2026-01-05 09:30  Ada (user): I moved to Lyon.', '2026-01-05 09:31  assistant: How is it?',
  '                  Is it warm?', '',
].join('\n')

t.test('a conversation is appended to, shown, listed and deleted', async (t) => {
  const { cli } = await cliServer(t)
  t.match(await cli(['conversations', 'list', 'home']), { code: 0, stdout: '', stderr: /no conversation/ })
  const append = ['conversations', 'append', 'home', 'chat 7']
  // As a person writes it: with a blank line, and null for what is not known.
  const given = `${lines(TALK.slice(0, 2))}\n\n{"role":"assistant","content":"How is it?\\nIs it warm?",` +
    '"name":null,"created_at":"2026-01-05T09:31:00Z"}\n'
  t.same(await cli(append, { stdin: given }), {
    code: 0,
    stdout: '',
    stderr: '2 stored, 0 already there, 1 left out (without text, a result of a tool, or forgotten before)\n',
  })
  t.same(await cli(['conversations', 'show', 'home', 'chat 7']), { code: 0, stdout: CHAT, stderr: '' })

  // The transcript grows, and is sent whole, now as a file with an array.
  const grown = [...TALK, { role: 'user', content: 'It is.' }]
  const file = join(t.testdir({ 'talk.json': JSON.stringify(grown, null, 2) }), 'talk.json')
  const { stdout } = await cli([...append, file, '--json'])
  const answer = JSON.parse(stdout)
  t.match(answer, { stored: 1, repeated: 2, memory_ids: { length: 4, 1: null } })
  t.match(JSON.parse((await cli(['conversations', 'show', 'home', 'chat 7', '--json'])).stdout), {
    messages: { length: 3, 0: { name: 'Ada', memory_id: answer.memory_ids[0] }, 2: { content: 'It is.' } },
  })
  t.match((await cli(['conversations', 'show', 'home', 'chat 7', '--last', '1'])).stdout, /^.{16} {2}user: It is\.\n$/)
  t.match((await cli(['conversations', 'list', 'home'])).stdout, /^CONVERSATION +MESSAGES .*\nchat 7 +3 +20/)

  const deleted = await cli(['conversations', 'delete', 'home', 'chat 7'])
  t.match(deleted, { code: 0, stderr: '3 messages deleted\n' })
  t.same(deleted.stdout.trim().split('\n'), answer.memory_ids.filter((id: string | null) => id !== null).sort())
  const none = { code: 0, stdout: '', stderr: 'the conversation has no message\n' }
  t.same(await cli(['conversations', 'show', 'home', 'chat 7']), none)
})

t.test('a transcript of several requests and pages is stored and shown once and in order', async (t) => {
  const { cli } = await cliServer(t)
  const turns = Array.from({ length: 1201 }, (_, index) => ({
    id: `m${index}`, role: index % 2 === 0 ? 'user' : 'assistant', content: `Turn ${index}.`,
  }))
  const append = ['conversations', 'append', 'home', 'long']
  t.same(await cli(append, { stdin: lines(turns) }), {
    code: 0, stdout: '', stderr: '1201 stored, 0 already there\n',
  })
  t.match((await cli(append, { stdin: lines(turns) })).stderr, '0 stored, 1201 already there')
  const shown = (await cli(['conversations', 'show', 'home', 'long'])).stdout.trim().split('\n')
  t.same(shown.map((line) => line.slice(18)), turns.map(({ role, content }) => `${role}: ${content}`))

  const other = [...turns.slice(0, 1200), { id: 'm1200', role: 'user', content: 'Something else.' }]
  const conflict = await cli(append, { stdin: lines(other) })
  t.equal(conflict.code, 1)
  t.match(conflict.stderr, /^0 stored, 1000 already there before the error; .*\nstandard input: line 1201: id: /)
  const nameless = await cli(append, { stdin: JSON.stringify(turns.map(({ id: _id, ...turn }) => turn)) })
  t.match(nameless, { code: 1, stdout: '', stderr: /^there are 1201 messages, of which some have no id/ })
})

t.test('a page of long messages, of which fewer fit into an answer, is read in parts', async (t) => {
  const { cli } = await cliServer(t, { file: { bounds: { answer_bytes: 4096 } } })
  const turns = Array.from({ length: 12 }, (_, index) => ({ role: 'user', content: `${index} ${'word '.repeat(150)}` }))
  await cli(['conversations', 'append', 'home', 'long'], { stdin: JSON.stringify(turns) })
  const { code, stdout, stderr } = await cli(['conversations', 'show', 'home', 'long'])
  t.equal(code, 0, stderr)
  t.same(stdout.trim().split('\n').map((line) => /user: (\d+) /.exec(line)?.[1]), turns.map((_, index) => `${index}`))
})

t.test('wrong messages are named by their place, and nothing is stored', async (t) => {
  const { cli } = await cliServer(t)
  const append = ['conversations', 'append', 'home', 'chat']
  const good = { role: 'user', content: 'Fine.' }
  for (const [stdin, stderr] of [
    ['', /^standard input has no messages\n$/],
    ['[]', /^standard input has no messages\n$/],
    ['[{"role":"user"', /^standard input is not JSON: /],
    [`${lines([good])}\n{"role":`, /^standard input: line 2 is not JSON: /],
    ['[3]', /^standard input: message 1 is not a message such as/],
    [lines([good, { role: 'user', text: 'x' }]), /^standard input: line 2: text: is not a known field; use content\n$/],
    [lines([good, { content: 'x' }]), /^standard input: line 2: role: is required\n$/],
    [`\n${lines([good, { role: 'user' }])}`, /^standard input: line 3: content: is required \(invalid_request/],
    [JSON.stringify([good, { role: 'user', content: ' ' }]), /^standard input: message 2: content: must have text \(/],
  ] as const) {
    const result = await cli(append, { stdin })
    t.match(result, { code: 1, stdout: '' }, stdin)
    t.match(result.stderr, stderr, stdin)
  }
  t.match(await cli([...append, '/nowhere/talk.json']), {
    code: 1, stderr: '/nowhere/talk.json cannot be read (ENOENT)\n',
  })
  t.match(await cli([...append, '-'], { stdin: Buffer.from([0x5b, 0xff]) }), { code: 1, stderr: /not valid UTF-8/ })
  t.match(await cli(['conversations', 'show', 'home', 'chat', '--last', '0']), { code: 2 })
  t.match(await cli(['conversations', 'list', 'home']), { stderr: /no conversation/ })
})
