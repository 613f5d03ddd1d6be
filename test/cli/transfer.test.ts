import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { cliServer, runCli } from '../helpers/cli.js'

const EXPORTS = fileURLToPath(new URL('../fixtures/exports/', import.meta.url))
const HEADER = '{"format":"memory-gateway-export","version":1}'

function textOf (memory: unknown): unknown {
  return typeof memory === 'object' && memory !== null && 'text' in memory ? memory.text : undefined
}

t.test('an export can be imported, and the same import again stores nothing twice', async (t) => {
  const { cli, retain } = await cliServer(t)
  await retain('user-ada', 'Ada drinks tea.', { tags: ['drink'] })
  await retain('user-ada', 'Ada lives in Lisbon.')
  const folder = t.testdir({})
  const path = join(folder, 'ada.ndjson')

  const written = await cli(['export', 'user-ada', '-o', path])
  t.same(written, { code: 0, stdout: '', stderr: `2 memories in ${path}\n` })
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.same(readdirSync(folder), ['ada.ndjson'], 'nothing partial is left')
  const piped = await cli(['export', 'user-ada'])
  t.same(piped.stdout.split('\n').slice(1), readFileSync(path, 'utf8').split('\n').slice(1), 'the header has the time')
  t.match(JSON.parse((await cli(['export', 'user-ada', '-o', path, '--json'])).stdout), { file: path, memories: 2 })

  const first = await cli(['import', 'copy', path])
  t.equal(first.code, 0, first.stderr)
  t.match(first.stderr, /^import bytes \d+\/\d+ \(100 %\), 2 memories, \d+ memories\/s\n2 imported, 0 already stored/)
  t.same(
    JSON.parse((await cli(['import', 'copy', '--json'], { stdin: piped.stdout })).stdout),
    { imported: 0, skipped: 2, overwritten: 0, rejected: 0 },
  )
  t.same(
    JSON.parse((await cli(['import', 'copy', path, '--on-conflict', 'overwrite', '--json'])).stdout),
    { imported: 0, skipped: 0, overwritten: 2, rejected: 0 },
  )
})

t.test('an import that ended at a bad line continues when the line is corrected', async (t) => {
  const { cli } = await cliServer(t)
  const lines = [
    HEADER, '', ...Array.from({ length: 6000 }, (_, index) => JSON.stringify({ text: `Fact number ${index}.` })),
  ]
  const path = join(t.testdir({}), 'many.ndjson')
  writeFileSync(path, [...lines, '{"txt":"no text"}'].join('\n'))
  const broken = await cli(['import', 'many', path])
  t.equal(broken.code, 1)
  t.match(
    broken.stderr,
    new RegExp('5000 imported, 0 already stored or expired before the error; the same command continues from here\n' +
      'line 6003: text: is required'),
  )
  writeFileSync(path, [...lines, '{"text":"A text."}'].join('\n'))
  t.same(
    JSON.parse((await cli(['import', 'many', path, '--json'])).stdout),
    { imported: 1001, skipped: 5000, overwritten: 0, rejected: 0 },
  )
})

t.test('exports of other products are imported', async (t) => {
  const { cli } = await cliServer(t)
  const cases: Array<[product: string, memories: Array<Record<string, unknown>>]> = [
    ['chatgpt', [
      {
        text: 'I eat porridge with figs for breakfast.',
        occurred_at: '2024-05-20T08:00:30.000Z',
        document_id: '6650-breakfast',
        speaker: 'user',
        metadata: { title: 'Breakfast' },
      },
      { text: 'Figs go well with walnuts.', speaker: 'assistant' },
    ]],
    ['claude', [
      {
        text: 'We go to the Azores in June.',
        occurred_at: '2026-05-20T08:00:00.000Z',
        speaker: 'user',
        metadata: { title: 'Holiday' },
      },
      { text: 'June is warm there; take a light raincoat.', speaker: 'assistant' },
    ]],
    ['mem0', [
      {
        text: 'Plays the cello in a quartet',
        retained_at: '2026-04-02T17:11:12.123Z',
        tags: ['hobbies'],
        metadata: { level: 2, where: '["home","hall"]', user_id: 'ada' },
      },
      { text: 'Is allergic to nuts', retained_at: '2026-04-03T10:11:12.000Z' },
    ]],
    ['langgraph', [
      {
        text: 'Works night shifts on Fridays',
        document_id: 'memories/ada/a1',
        metadata: { importance: 3, namespace: 'memories/ada' },
      },
      { text: '{"name":"Ada","languages":["en","pt"]}', document_id: 'profile/ada' },
    ]],
    ['hindsight', [
      {
        text: 'Ada moved to Lisbon in 2024',
        occurred_at: '2024-09-01T00:00:00.000Z',
        retained_at: '2025-01-05T12:00:00.000Z',
        tags: ['move'],
        document_id: 'letters',
        metadata: { fact_type: 'world', context: 'relocation' },
      },
    ]],
  ]
  for (const [product, memories] of cases) {
    const path = join(EXPORTS, `${product}.json`)
    const done = await cli(['import', product, path, '--from', product, '--json'])
    t.same(
      [done.code, JSON.parse(done.stdout)], [0, { imported: memories.length, skipped: 0, overwritten: 0, rejected: 0 }],
      `${product}: ${done.stderr}`,
    )
    const again = await cli(['import', product, '--from', product, '--json'], { stdin: readFileSync(path, 'utf8') })
    t.same(
      JSON.parse(again.stdout), { imported: 0, skipped: memories.length, overwritten: 0, rejected: 0 },
      `${product} again`,
    )
    const stored = (await cli(['export', product])).stdout.trim().split('\n').slice(1).map(
      (line): unknown => JSON.parse(line),
    )
    for (const memory of memories) t.hasStrict(stored.find((found) => textOf(found) === memory['text']), memory)
  }
})

t.test('integers of another product that are too long for a number are kept as texts', async (t) => {
  const { cli } = await cliServer(t)
  const stdin = '[{"id":"a","memory":"Has the \\"card\\" 12345678901234567890, not 1","metadata":{' +
    '"card":12345678901234567890,"exact":9007199254740992,"negative":-9007199254740993,"share":0.12345678901234567,' +
    '"lines":"one\\n12345678901234567890","path":"C:\\\\","list":[1,-12345678901234567890],' +
    '"tiny":1e-9007199254740993,' +
    '"text":"12345678901234567890"}}]'
  const { code, stderr } = await cli(['import', 'cards', '--from', 'mem0'], { stdin })
  t.equal(code, 0, stderr)
  const { text, metadata } = JSON.parse((await cli(['export', 'cards'])).stdout.trim().split('\n')[1]!) as {
    text: string, metadata: unknown
  }
  t.equal(text, 'Has the "card" 12345678901234567890, not 1')
  t.hasStrict(metadata, {
    card: '12345678901234567890',
    exact: 9007199254740992,
    negative: '-9007199254740993',
    share: Number('0.12345678901234567'),
    lines: 'one\n12345678901234567890',
    path: 'C:\\',
    list: '[1,"-12345678901234567890"]',
    tiny: 0,
    text: '12345678901234567890',
  })
  await cli(['import', 'short', '--from', 'mem0'], {
    stdin: '[{"id":"a","memory":"x","metadata":{"card":9007199254740993}}]',
  })
  t.match((await cli(['export', 'short'])).stdout, /"card":"9007199254740993"/, 'as short as such a number can be')
})

t.test('a file of another form is refused with its place, and nothing is stored', async (t) => {
  const { cli } = await cliServer(t)
  const cases: Array<[args: string[], stdin: string, said: string]> = [
    [
      ['bank'], '{"text":"no header"}\n',
      'standard input: line 1 is not the header of an export ({"format":"memory-gateway-export",…}); for an ' +
        'export of another product, name the product with --from: hindsight, mem0, langgraph, claude, chatgpt\n',
    ],
    [['bank'], 'text\n', 'standard input: line 1 is not the header of an export'],
    [['bank'], '', 'standard input is empty\n'],
    [
      ['bank', '--from', 'mem0'], '[{"id":"a","memory":"x","metadata":{"n":00000000000000000001}}]',
      'standard input is not JSON: ',
    ],
    [
      ['bank', '--from', 'mem0'], '[{"id":"a","memory":"x","metadata":{12345678901234567890 :1}}]',
      'standard input is not JSON: ',
    ],
    [['bank', '--from', 'mem0'], '[{"id":"a","memory":"1234567890123456\\', 'standard input is not JSON: '],
    [
      ['bank', '--from', 'mem0'], '{"memories":[]}',
      'standard input is not an export of mem0 in a known form: results: expected a list, found nothing\n',
    ],
    [
      ['bank', '--from', 'mem0'], '[{"id":"a","memory":"x"},{"id":"b"}]',
      'standard input is not an export of mem0 in a known form: [1].memory: expected a string, found nothing\n',
    ],
    [
      ['bank', '--from', 'claude'], '[{"uuid":"a","chat_messages":[{"sender":"robot"}]}]',
      'standard input is not an export of claude in a known form: [0].chat_messages[0].sender: expected human or ' +
        'assistant, found "robot"\n',
    ],
    [
      ['bank', '--from', 'chatgpt'], '{}',
      'standard input is not an export of chatgpt in a known form: the top level: expected a list, found an object\n',
    ],
    [
      ['bank', '--from', 'chatgpt'], '[{"mapping":{"a":{"message":{"author":{"role":"user"},"content":[]}}}}]',
      'standard input is not an export of chatgpt in a known form: [0].mapping["a"].message.content: expected an ' +
        'object, found a list\n',
    ],
    [
      ['bank', '--from', 'langgraph'], '{"items":[{"namespace":"a"}]}',
      'standard input is not an export of langgraph in a known form: items[0].namespace: expected a list, ' +
        'found a string\n',
    ],
    [
      ['bank', '--from', 'hindsight'], '{"items":[{"text":"x","occurred_start":"soon"}]}',
      'standard input is not an export of hindsight in a known form: items[0].occurred_start: expected a time, ' +
        'found a string\n',
    ],
    [
      ['bank', '--from', 'hindsight'], '{"items":[{"text":"x","mentioned_at":"2024-02-30T00:00:00"}]}',
      'standard input is not an export of hindsight in a known form: items[0].mentioned_at: expected a time, ' +
        'found a string\n',
    ],
    [
      ['bank', '--from', 'claude'], 'PK\u0003\u0004',
      'standard input is an archive: unpack it and import the conversations.json in it\n',
    ],
  ]
  for (const [args, stdin, said] of cases) {
    const { code, stderr } = await cli(['import', ...args], { stdin })
    t.same([code, stderr.slice(0, said.length)], [1, said], args.join(' '))
  }
  t.same(JSON.parse((await cli(['banks', '--json'])).stdout), { banks: [] })
})

t.test('an import of another product without --from names the option with the product', async (t) => {
  for (const file of readdirSync(EXPORTS)) {
    const product = file.replace('.json', '')
    const { code, stderr } = await runCli(['import', 'bank', join(EXPORTS, file)])
    t.equal(code, 1)
    t.match(stderr, new RegExp(`${file}: line 1 is not the header of an export .*; it looks like an export of ` +
      `${product}: use --from ${product}\n$`))
  }
})

// A search that begins again at each quotation mark takes minutes.
t.test('a file that ends within a long text is refused', { timeout: 60_000 }, async (t) => {
  const stdin = `[{"id":"a","memory":"1234567890123456 ${'\\"x'.repeat(200_000)}`
  const { cli } = await cliServer(t)
  const { code, stderr } = await cli(['import', 'bank', '--from', 'mem0'], { stdin })
  t.same([code, stderr.slice(0, 28)], [1, 'standard input is not JSON: '])
})

t.test('memories of Mem0 keep their expiry, and those that have expired are skipped', async (t) => {
  const { cli } = await cliServer(t)
  const stdin = JSON.stringify([
    { id: 'a', memory: 'The door code is 4411.', expiration_date: '2024-12-31' },
    { id: 'b', memory: 'The guest code is 9922.', expiration_date: '2099-12-31' },
    { id: 'c', memory: 'The garage code is 7733.', expiration_date: '2099-12-31T10:00:00+02:00' },
    { id: 'd', memory: 'The mailbox code is 1155.', expiration_date: null },
    { id: 'e', memory: 'The shed code is 2288.', expiration_date: '9999-12-31' },
  ])
  const { code, stderr } = await cli(['import', 'codes', '--from', 'mem0'], { stdin })
  t.equal(code, 0, stderr)
  t.match(stderr, '4 imported, 1 already stored or expired')
  const stored = (await cli(['export', 'codes'])).stdout.trim().split('\n').slice(1).map((line) => JSON.parse(line))
  t.same(stored.map(({ document_id: id, expires_at: at }) => [id, at]).sort(), [
    ['b', '2100-01-01T00:00:00.000Z'], ['c', '2099-12-31T08:00:00.000Z'], ['d', null],
    ['e', '9999-12-31T23:59:59.999Z'],
  ])
  const wrong = await cli(['import', 'codes', '--from', 'mem0'], {
    stdin: '[{"id":"a","memory":"x","expiration_date":"2024-13-01"}]',
  })
  t.match(wrong.stderr, '[0].expiration_date: expected a time, found a string')
})

t.test('voice messages of ChatGPT are imported, and entries without text are counted', async (t) => {
  const { cli } = await cliServer(t)
  const contents = [
    {
      content_type: 'multimodal_text',
      parts: [
        { content_type: 'audio_transcription', text: 'My blood type is A negative.', direction: 'in' },
        { content_type: 'audio_asset_pointer' },
      ],
    },
    { content_type: 'multimodal_text', parts: [{ content_type: 'image_asset_pointer' }] },
    { content_type: 'code', text: 'print(1)' },
  ]
  const mapping = Object.fromEntries(contents.map((content, index) => [
    `n${index}`, { message: { author: { role: 'user' }, content } },
  ]))
  const { code, stderr } = await cli(['import', 'voice', '--from', 'chatgpt'], { stdin: JSON.stringify([{ mapping }]) })
  t.equal(code, 0, stderr)
  t.match(
    stderr, /entries without text, such as images or calls of tools, are left out: 2\n[^]*1 imported, 0 already stored/,
  )
  t.match((await cli(['export', 'voice'])).stdout, /"My blood type is A negative\."/)
  const claude = [{ uuid: 'a', chat_messages: [{ sender: 'human', text: ' ' }, { sender: 'human', text: 'I sail.' }] }]
  const other = await cli(['import', 'claude', '--from', 'claude'], { stdin: JSON.stringify(claude) })
  t.match(other.stderr, /are left out: 1\n[^]*1 imported/)
})

t.test('a text longer than a memory becomes several memories', async (t) => {
  const { cli } = await cliServer(t)
  const long = Array.from({ length: 4000 }, (_, index) => `Line ${index} of a long paste.`).join('\n')
  const { code, stdout, stderr } = await cli(['import', 'long', '--from', 'mem0', '--json'], {
    stdin: JSON.stringify([{ id: 'a', memory: long }]),
  })
  t.same([code, JSON.parse(stdout)], [0, { imported: 3, skipped: 0, overwritten: 0, rejected: 0 }], stderr)
})

t.test('a missing file and a place that cannot be written are reported', async (t) => {
  const { cli, retain } = await cliServer(t)
  await retain('bank', 'A text.')
  t.same(await cli(['import', 'bank', '/nowhere/at/all']), {
    code: 1, stdout: '', stderr: '/nowhere/at/all cannot be read (ENOENT)\n',
  })
  t.same(await cli(['export', 'bank', '-o', '/nowhere/at/all']), {
    code: 1, stdout: '', stderr: '/nowhere/at/all cannot be written (ENOENT)\n',
  })
  t.equal((await runCli(['import', 'bank', '-', '--from', 'other'])).code, 2)
  t.equal((await runCli(['import', 'bank', '-', '--from', 'mem0', '--config', 'apply'], { stdin: '[]' })).code, 2)
})
