import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { cliServer, PROGRAM, runCli, spawnCli, type RunningCli } from '../helpers/cli.js'

/* Inputs and outputs that are no ordinary files, and texts that are none: one message, no stack, nothing lost. */

const NOT_UTF8 = Buffer.from([0x41, 0xff, 0xfe, 0x42])
/** The first byte of a character of two. */
const CUT_OFF = Buffer.from([0x41, 0xc3])
const FULL = { skip: !existsSync('/dev/full') && 'there is no /dev/full' }
/** Makes a command say on standard output that it handles SIGTERM. */
const SAYS_READY = `--import=data:text/javascript,${encodeURIComponent("process.on('newListener', (name) => { if " +
  "(name === 'SIGTERM') console.log('ready') })")}`
const HEADER = '{"format":"memory-gateway-export","version":1}\n'

t.test('a text that is not UTF-8 is refused, not stored with its bytes replaced', async (t) => {
  const { cli } = await cliServer(t)
  for (const stdin of [NOT_UTF8, CUT_OFF]) {
    t.same(await cli(['retain', 'bank'], { stdin }), {
      code: 1, stdout: '', stderr: 'standard input is not valid UTF-8; convert it first, for example with iconv\n',
    })
    const imported = await cli(['import', 'bank'], { stdin: Buffer.concat([Buffer.from(`${HEADER}{"text":"`), stdin]) })
    t.same(imported, { code: 1, stdout: '', stderr: 'the import is not valid UTF-8\n' })
  }
  t.same(JSON.parse((await cli(['banks', '--json'])).stdout).banks, [])
})

t.test('an input that is too long for a memory is refused before all of it is read', async (t) => {
  const { cli } = await cliServer(t)
  const { code, stderr } = await cli(['retain', 'bank'], { stdin: Buffer.alloc(66 * 1024 * 1024, 'a') })
  t.same({ code, stderr }, { code: 1, stderr: 'standard input is too long (more than 64 MiB)\n' })
})

t.test('an export to a folder is refused and leaves nothing', async (t) => {
  const { cli } = await cliServer(t)
  const folder = t.testdir({ there: {} })
  const { code, stderr } = await cli(['export', 'bank', '--output', join(folder, 'there')])
  t.same({ code, stderr }, { code: 1, stderr: `${join(folder, 'there')} is a folder; name a file in it\n` })
  t.same(readdirSync(folder), ['there'])
})

t.test('an export through a link replaces the file that it leads to', async (t) => {
  const { cli } = await cliServer(t)
  const folder = t.testdir({ 'file.ndjson': 'old' })
  symlinkSync('file.ndjson', join(folder, 'link.ndjson'))
  t.equal((await cli(['export', 'bank', '--output', join(folder, 'link.ndjson')])).code, 0)
  t.ok(lstatSync(join(folder, 'link.ndjson')).isSymbolicLink())
  t.match(readFileSync(join(folder, 'file.ndjson'), 'utf8'), /^\{"format":"memory-gateway-export"/)
})

t.test('an export to a pipe is written to it, and the pipe stays', async (t) => {
  const { url } = await cliServer(t)
  const pipe = join(t.testdir(), 'pipe')
  const { stdout } = await promisify(execFile)('sh', [
    '-c', 'mkfifo "$1" && { "$2" "$3" export bank --output "$1" 2>/dev/null & cat "$1"; wait; }', 'sh', pipe,
    process.execPath, PROGRAM,
  ], { env: { PATH: process.env['PATH'] ?? '', XDG_CONFIG_HOME: '/nowhere/at/all', MEMORY_GATEWAY_URL: url } })
  t.match(stdout, /^\{"format":"memory-gateway-export"/)
  t.ok(statSync(pipe).isFIFO())
})

t.test('a full disk is reported in one line', FULL, async (t) => {
  const { cli, url } = await cliServer(t)
  const { code, stderr } = await cli(['export', 'bank', '--output', '/dev/full'])
  t.same(
    { code, stderr: stderr.replace(/^export .*\n/gm, '') },
    { code: 1, stderr: '/dev/full cannot be written (ENOSPC)\n' },
  )
  t.ok(statSync('/dev/full').isCharacterDevice(), 'it is not replaced')
  const printed = await promisify(execFile)('sh', [
    '-c', '"$1" "$2" completion bash >/dev/full; echo "code $?" >&2', 'sh', process.execPath, PROGRAM,
  ], {
    env: { PATH: process.env['PATH'] ?? '', XDG_CONFIG_HOME: '/nowhere/at/all', MEMORY_GATEWAY_URL: url },
  })
  t.equal(printed.stderr, 'standard output cannot be written (ENOSPC)\ncode 1\n')
})

t.test('a command whose messages are not read does its work and keeps its exit code', async (t) => {
  const { url, cli } = await cliServer(t)
  const file = join(
    t.testdir({
      'many.ndjson': `${HEADER}${Array.from({ length: 10_001 }, (_, index) => `{"text":"Fact ${index}."}\n`).join('')}`,
    }),
    'many.ndjson',
  )
  const unheard = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { process: child, result } = spawnCli(args, { env: { MEMORY_GATEWAY_URL: url, ...env } })
    child.stderr?.destroy()
    return await result
  }
  t.match(await unheard(['import', 'bank', file, '--json']), { code: 0, stdout: /"imported":10001/ })
  t.match(JSON.parse((await cli(['banks', '--json'])).stdout), { banks: [{ memory_count: 10_001 }] })
  t.equal((await unheard(['nonsense'])).code, 2)
  t.equal((await unheard(['banks'], { MEMORY_GATEWAY_URL: 'http://127.0.0.1:1' })).code, 1)
})

t.test('one signal ends a command that waits for its input or for the reader of its output', async (t) => {
  const { url, retain } = await cliServer(t)
  await retain('bank', 'A text.')
  const pipe = join(t.testdir(), 'pipe')
  execFileSync('mkfifo', [pipe])
  const ended = async ({ process: child, result }: RunningCli) => {
    await once(child.stdout!, 'data')
    // The command begins to wait within this time; earlier signals end it too.
    await delay(1000)
    child.kill('SIGTERM')
    const guard = setTimeout(() => { child.kill('SIGKILL') }, 10_000)
    const { code } = await result
    clearTimeout(guard)
    return code
  }
  const env = { MEMORY_GATEWAY_URL: url, NODE_OPTIONS: SAYS_READY }
  t.equal(await ended(spawnCli(['export', 'bank', '--output', pipe], { env })), 130, 'a pipe without a reader')
  for (const text of ['', `${HEADER}{"text":"x"}\n`]) {
    const silent = spawnCli(['import', 'bank'], { env, stdin: null })
    silent.process.stdin?.write(text)
    t.equal(await ended(silent), 130, 'a silent pipe')
  }
})

t.test('one signal ends an export to standard output whose reader has stopped reading', async (t) => {
  const { url, retain } = await cliServer(t)
  for (let number = 0; number < 20; number++) await retain('bank', `Text ${number} ${'word '.repeat(9000)}`)
  const { process: child } = spawnCli(['export', 'bank'], { env: { MEMORY_GATEWAY_URL: url } })
  await once(child.stdout!, 'data')
  child.stdout!.pause()
  child.kill('SIGTERM')
  const guard = setTimeout(() => { child.kill('SIGKILL') }, 10_000)
  t.same((await once(child, 'exit'))[0], 130)
  clearTimeout(guard)
  child.stdout!.destroy()
})

t.test('control characters of a file do not reach the terminal in messages', async (t) => {
  const { cli } = await cliServer(t)
  for (const [message, ...args] of [
    [/is not the header of an export/, 'import', 'bank'],
    [/is not JSON: .*\ufffd\]0;title\ufffd/, 'import', 'bank', '--from', 'mem0'],
  ] as const) {
    const { code, stderr } = await cli([...args], { stdin: '\u001b]0;title\u0007\u001b[2J not JSON\n' })
    t.equal(code, 1)
    t.match(stderr, message)
    // eslint-disable-next-line no-control-regex
    t.notMatch(stderr, /[\u0000-\u0009\u000b-\u001f]/)
  }
})

t.test('an address whose path the gateway does not have is detected', async (t) => {
  const { url } = await cliServer(t)
  const { code, stderr } = await runCli(['banks'], { env: { MEMORY_GATEWAY_URL: `${url}/v1` } })
  t.equal(code, 1)
  t.match(stderr, /No such route \(not_found, request [0-9a-f-]{36}\)\nCheck MEMORY_GATEWAY_URL/)
})
