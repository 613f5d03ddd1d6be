import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import t from 'tap'
import { cliServer, runCli } from '../helpers/cli.js'

t.test('a retained memory is listed, found, used for an answer and forgotten', async (t) => {
  const { cli } = await cliServer(t)
  const stored = await cli([
    'retain', 'user-ada', 'Ada drinks tea in the morning.', '--tag', 'drink', '--metadata', 'cups=2', '--metadata',
    'kind=green',
    '--occurred-at', '2026-01-02T08:00:00Z', '--document-id', 'diary', '--source', 'test',
  ])
  t.equal(stored.code, 0, stored.stderr)
  t.match(stored.stdout, /^[0-9a-f-]{36}\n$/)
  const id = stored.stdout.trim()

  const again = await cli([
    'retain', 'user-ada', '-', '--tag', 'drink', '--occurred-at', '2026-01-02T08:00:00Z', '--document-id', 'diary',
  ], {
    stdin: 'Ada drinks tea in the morning.\n',
  })
  t.same(again, { code: 0, stdout: `${id}\n`, stderr: 'this memory is already stored\n' })
  t.equal((await cli(['retain', 'user-ada', 'Ada lives in Lisbon.'])).code, 0)

  const list = await cli(['banks'])
  t.match(list.stdout, /^BANK {6}MEMORIES {2}LAST RETAINED\nuser-ada {2}2 {9}2/)
  t.match(JSON.parse((await cli(['banks', '--json'])).stdout), { banks: [{ bank_id: 'user-ada', memory_count: 2 }] })

  const found = await cli(['recall', 'user-ada', 'What does Ada drink?', '--tag', 'drink', '--max-results', '3'])
  t.equal(found.code, 0, found.stderr)
  t.match(found.stdout, new RegExp('^0\\.\\d\\d {2}' +
    `2026-01-02: Ada drinks tea in the morning\\.\n {6}user-ada {2}${id} ` +
    '{2}tags: drink {2}source: test {2}document: diary\n$'))
  t.equal(found.stderr, '1 of 1 memories\n')
  const json = await cli(['recall', 'user-ada,other', 'tea', '--json'])
  t.match(JSON.parse(json.stdout), {
    hits: [{ memory_id: id, metadata: { cups: 2, kind: 'green' } }], total_available: 1,
  })
  const explained = await cli(['recall', 'user-ada', 'tea', '--explain'])
  t.match(explained.stdout, /lexical: rank 1, score 0\.\d+/)
  t.match(explained.stdout, /\n +sum: \d+(\.\d+)?\n/)
  t.match(explained.stdout, /\nsearch +[\d.]+ ms\n/)

  const answer = await cli(['reflect', 'user-ada', 'What does Ada drink?'])
  t.equal(answer.code, 0, answer.stderr)
  t.match(answer.stdout, /^2 January 2026: "Ada drinks tea in the morning\." \[1\]\n\n/)
  t.match(answer.stdout, /\n\n\[1\] 0\.\d\d {2}2026-01-02: Ada drinks tea/)
  const whole = JSON.parse((await cli(['reflect', 'user-ada', 'What does Ada drink?', '--json'])).stdout)
  t.match(whole, {
    answer: '2 January 2026: "Ada drinks tea in the morning." [1]',
    abstained: false,
    sources: [{ memory_id: id }],
    usage: { tokens: Number },
  })
  const none = await cli(['reflect', 'nobody', 'What does Ada drink?', '--no-sources'])
  t.equal(none.code, 0)
  t.match(none.stderr, /the memories do not answer the question/)

  const dry = await cli(['forget', 'user-ada', '--tag', 'drink', '--dry-run'])
  t.same(dry, {
    code: 0, stdout: `${id}\n`, stderr: `${id}: Ada drinks tea in the morning.\n1 memory would be deleted\n`,
  })
  t.same(
    JSON.parse((await cli(['forget', 'user-ada', '--id', id, '--json'])).stdout),
    { deleted_count: 1, memory_ids: [id] },
  )
  const rest = await cli(['forget', 'user-ada', '--all', '--yes'])
  t.same([rest.code, rest.stderr], [0, '1 memory deleted\n'])
})

t.test('recall and reflect filter memories, and count relative times from the reference time', async (t) => {
  const { cli, retain } = await cliServer(t)
  const bank = 'user-ada'
  await retain(bank, 'Ada drinks tea at work.', { metadata: { place: 'work', cups: 2 } })
  await retain(bank, 'Ada drinks tea at home.', { metadata: { place: 'home', cups: 2 } })
  await retain(bank, 'Ada went sailing.', { occurred_at: '2024-05-01T10:00:00Z' })
  await retain(bank, 'Ada went rowing.', { occurred_at: '2024-06-01T10:00:00Z' })
  const found = async (query: string, ...args: string[]) => {
    const { code, stdout, stderr } = await cli(['recall', bank, query, ...args, '--json'])
    t.equal(code, 0, stderr)
    return (JSON.parse(stdout) as { hits: Array<{ text: string }> }).hits.map(({ text }) => text)
  }
  t.same(await found('tea', '--metadata', 'cups=2', '--metadata', 'place=home'), ['Ada drinks tea at home.'])
  t.same(await found('tea', '--metadata', 'cups=3'), [])
  await cli(['retain', bank, 'Ada drinks tea on the train.', '--metadata', 'cups="2"', '--metadata', 'seat="A'])
  t.same(
    await found('tea', '--metadata', 'cups="2"', '--metadata', 'seat="A'), ['Ada drinks tea on the train.'],
    'a JSON string is its text, and an incomplete one is text as it is',
  )
  await cli(['retain', bank, 'Tea is best without sugar.', '--speaker', 'Caroline'])
  t.same(await found('tea', '--speaker', 'CAROLINE', '--speaker', 'user'), ['Tea is best without sugar.'])
  t.same(await found('tea', '--as-of', '2000-01-01T00:00:00Z'), [])
  t.equal((await found('tea', '--min-trust', 'suspect')).length, 4)
  for (const [month, text] of [['05', 'Ada went sailing.'], ['06', 'Ada went rowing.']] as const) {
    const [first] = await found('What did Ada do yesterday?', '--reference-time', `2024-${month}-02T12:00:00Z`)
    t.equal(first, text)
  }
  const answer = await cli([
    'reflect', bank, 'Where does Ada drink tea?', '--metadata', 'place=work', '--min-trust', 'untrusted',
    '--reference-time', '2024-06-02T12:00:00Z',
  ])
  t.equal(answer.code, 0, answer.stderr)
  t.match(answer.stdout, /at work/)
  t.notMatch(answer.stdout, /at home/)
  t.match(await cli(['reflect', bank, 'tea', '--as-of', '2000-01-01T00:00:00Z']), { stderr: /do not answer/ })
})

t.test('memories are forgotten by the filters of a search, and by when they were stored', async (t) => {
  const { cli, retain } = await cliServer(t)
  const bank = 'user-ada'
  await retain(bank, 'In the diary.', { document_id: 'diary', occurred_at: '2024-05-01T10:00:00Z' })
  await retain(bank, 'Later in the diary.', { document_id: 'diary', occurred_at: '2024-06-01T10:00:00Z' })
  await retain(bank, 'In a letter.', { document_id: 'letter', metadata: { to: 'Bo' } })
  await retain(bank, 'Alone.')
  await retain(bank, 'Said by Bo.', { speaker: 'Bo' })
  const left = async () => {
    const exported = await cli(['export', bank])
    return exported.stdout.trim().split('\n').slice(1).map((line) => (JSON.parse(line) as { text: string }).text)
  }
  const forget = async (...args: string[]) => (await cli(['forget', bank, ...args])).stderr
  const found = JSON.parse((await cli(['recall', bank, 'diary letter', '--document', 'letter', '--json'])).stdout)
  t.match(found, { hits: [{ text: 'In a letter.' }], total_available: 1 })
  t.match(await cli(['reflect', bank, 'What is in the letter?', '--document', 'diary', '--json']), { code: 0 })
  t.match(JSON.parse((await cli(['recall', bank, 'said', '--speaker', 'bo', '--json'])).stdout), { total_available: 1 })
  t.equal(await forget('--speaker', 'Ada', '--speaker', 'BO'), '1 memory deleted\n')
  t.equal(await forget('--retained-before', '2000-01-01T00:00:00Z'), '0 memories deleted\n')
  t.equal(await forget('--document', 'diary', '--occurred-after', '2024-05-15T00:00:00Z'), '1 memory deleted\n')
  t.same(await left(), ['In the diary.', 'In a letter.', 'Alone.'])
  t.equal(await forget('--metadata', 'to=Bo'), '1 memory deleted\n')
  t.equal(await forget('--document', 'diary', '--document', 'letter'), '1 memory deleted\n')
  t.same(await left(), ['Alone.'])
  t.equal(await forget('--retained-after', '2000-01-01T00:00:00Z'), '1 memory deleted\n')
})

t.test('a refusal of the server is shown with its code and request id, with exit code 1', async (t) => {
  const { cli } = await cliServer(t)
  const cases: Array<[args: string[], said: RegExp]> = [
    [['retain', 'a bank', 'text'], /bank_id.*\(invalid_request, request [0-9a-f-]{36}\)/],
    [['recall', 'bank', 'query', '--occurred-after', 'yesterday'], /occurred_after/],
    [['recall', 'bank', 'query', '--reference-time', 'now'], /reference_time/],
    [['reflect', 'bank', ''], /query/],
    [['forget', 'bank', '--id', 'x'], /memory_ids/],
    [['export', 'a bank'], /bank_id/],
  ]
  for (const [args, said] of cases) {
    const { code, stdout, stderr } = await cli(args)
    t.same([code, stdout], [1, ''], args.join(' '))
    t.match(stderr, said)
    t.notMatch(stderr, /\n {4}at /)
  }
})

t.test('wrong usage has exit code 2 and sends no request', async (t) => {
  const cases: Array<[args: string[], said: RegExp]> = [
    [['retain'], /missing required argument 'bank'/],
    [['recall', 'bank'], /missing required argument 'query'/],
    [['recall', 'bank', 'query', '--max-results', '0'], /--max-results.*whole number from 1 to 1000/],
    [['recall', 'bank', 'query', '--min-score', '2'], /number from 0 to 1/],
    [['recall', 'bank', 'query', '--tags-match', 'some'], /Allowed choices are any, all/],
    [['recall', 'bank', 'query', '--explian'], /Did you mean --explain/],
    [['retain', 'bank', 'text', '--metadata', 'x'], /form name=value/],
    [['reflect', 'bank', 'question', '--metadata', 'x'], /form name=value/],
    [['recall', 'bank', 'query', '--min-trust', 'some'], /Allowed choices are suspect, untrusted, trusted/],
    [['forget', 'bank'], /choose what to delete/],
    [['forget', 'bank', '--id', 'x', '--all'], /choose what to delete/],
    [['forget', 'bank', '--id', 'x', '--document', 'd'], /choose what to delete/],
    [['forget', 'bank', '--all', '--retained-before', '2026-01-01T00:00:00Z', '--yes'], /choose what to delete/],
    [['forget', 'bank', '--metadata', 'x'], /form name=value/],
    [['forget', 'bank', '--id', 'x', '--tags-match', 'all'], /--tags-match requires --tag/],
    [['forget', 'bank', '--all'], /use --yes/],
    [['banks', 'more'], /too many arguments/],
  ]
  for (const [args, said] of cases) {
    const { code, stdout, stderr } = await runCli(args, { env: { MEMORY_GATEWAY_URL: 'http://127.0.0.1:1' } })
    t.same([code, stdout], [2, ''], `${args.join(' ')}: ${stderr}`)
    t.match(stderr, said)
  }
})

t.test('a request to a gateway that is busy or disconnects is retried, and a write keeps its key', async (t) => {
  const keys: unknown[] = []
  const server = createHttpServer((request, response) => {
    keys.push(request.headers['idempotency-key'])
    if (keys.length === 1) {
      return response.writeHead(429, { 'retry-after': '0' }).end('{"code":"rate_limited","detail":"Later"}')
    }
    if (keys.length === 2) return request.socket.destroy()
    return response.end('{"stored":true,"memory_id":"the-id","chunk_count":1,"deduplicated":false,"bank_id":"bank"}')
  }).listen(0, '127.0.0.1')
  t.teardown(() => { server.close() })
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('there is no port')
  const stored = await runCli(['retain', 'bank', 'A text.'], {
    env: { MEMORY_GATEWAY_URL: `http://127.0.0.1:${address.port}` },
  })
  t.same(stored, { code: 0, stdout: 'the-id\n', stderr: '' })
  t.equal(keys.length, 3)
  t.equal(new Set(keys).size, 1)
  t.match(keys[0], /^[0-9a-f]{32}$/)
})

t.test('a server that is not a gateway is reported as such', async (t) => {
  const server = createHttpServer((_request, response) => { response.end('<html>') }).listen(0, '127.0.0.1')
  t.teardown(() => { server.close() })
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('there is no port')
  const url = `http://127.0.0.1:${address.port}`
  const { code, stderr } = await runCli(['banks'], { env: { MEMORY_GATEWAY_URL: url } })
  t.same([code, stderr], [
    1,
    `the answer from ${url} is not that of a memory gateway (The answer is not a JSON object); check ` +
      'MEMORY_GATEWAY_URL\n',
  ])
})

t.test('an unreachable server is reported', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('there is no port')
  await new Promise((resolve) => { server.close(resolve) })
  const url = `http://127.0.0.1:${address.port}`
  const { code, stderr } = await runCli(['banks'], { env: { MEMORY_GATEWAY_URL: url } })
  t.same([code, stderr], [
    1,
    `the connection to ${url} failed (ECONNREFUSED); start it with \`memory-gateway serve\`, or set ` +
      'MEMORY_GATEWAY_URL\n',
  ])
})
