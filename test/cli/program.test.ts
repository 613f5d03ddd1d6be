import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { cliServer, runCli, spawnCli } from '../helpers/cli.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const COMMANDS = [
  'serve', 'init', 'doctor', 'config', 'config check', 'config show', 'config schema', 'migrate', 'reembed', 'token',
  'completion', 'banks', 'retain', 'recall', 'reflect', 'forget', 'edit', 'retire', 'restore', 'versions',
  'rollback', 'export', 'import',
]

/** A server that takes a request and never answers. */
async function silentServer (t: Test): Promise<{ url: string, asked: Promise<unknown> }> {
  const server = createServer(() => {})
  const asked = once(server, 'request')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('there is no port')
  return { url: `http://127.0.0.1:${address.port}`, asked }
}

t.test('help and version are shown everywhere, and nothing is started', async (t) => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const help = await runCli(['--help'])
  t.same([help.code, help.stderr], [0, ''])
  for (const command of COMMANDS.filter((name) => !name.includes(' '))) {
    t.match(help.stdout, new RegExp(`\\n  ${command} `), command)
  }
  for (const command of COMMANDS) {
    const words = command.split(' ')
    const own = await runCli([...words, '--help'])
    t.same([own.code, own.stderr], [0, ''], command)
    t.ok(own.stdout.startsWith(`Usage: memory-gateway ${command} `), command)
    // One of each depth, because each is a process and all commands get the option in one place.
    if (command === 'serve' || command === 'config check') {
      t.same(await runCli([...words, '--version']), { code: 0, stdout: `${version}\n`, stderr: '' }, command)
    }
  }
  t.same(await runCli(['--version']), { code: 0, stdout: `${version}\n`, stderr: '' })
})

t.test('an unknown command and an unknown option are wrong usage', async (t) => {
  const command = await runCli(['recal'])
  t.same([command.code, command.stdout], [2, ''])
  t.match(command.stderr, /unknown command 'recal'[^]*Did you mean recall\?/)
  const option = await runCli(['--prot', '1'])
  t.same([option.code, option.stdout], [2, ''])
  t.match(option.stderr, /unknown option '--prot'[^]*Did you mean --port\?/)
  const port = await runCli(['--port', '70000'])
  t.equal(port.code, 2)
  t.match(port.stderr, /whole number from 0 to 65535/)
})

t.test('without a command the server is started, with the options of serve', async (t) => {
  const cwd = t.testdir({
    'my.env': 'SERVICE_AUTH_MODE=api_key\nSERVICE_API_KEY=from-the-file\n', '.env': 'SERVICES_PORT=eighty\n',
  })
  const { process: child, result } = spawnCli(['--port', '0', '--env-file', 'my.env'], { cwd })
  t.teardown(() => { child.kill('SIGKILL') })
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (data: Buffer) => {
      output += data.toString()
      const found = /"url":"(http:[^"]+)"/.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    })
    void result.then(({ stderr }) => { reject(new Error(stderr)) })
  })
  t.match(output, /"configuration":"no file, my\.env"/)
  t.equal((await fetch(`${url}/v1/banks`)).status, 401)
  const answer = await runCli(['banks', '--json'], {
    env: { MEMORY_GATEWAY_URL: url, MEMORY_GATEWAY_API_KEY: 'from-the-file', MEMORY_GATEWAY_PRINCIPAL: 'user:ada' },
  })
  t.same([answer.code, answer.stdout], [0, '{"banks":[]}\n'])
  child.kill('SIGINT')
  t.equal((await result).code, 0, 'it ends after the requests in flight')
})

t.test('a start that fails is reported', async (t) => {
  const cwd = t.testdir({ 'memory.yaml': 'vector_store: postgres\n' })
  const folder = await runCli(['serve', '--data', 'memories', '--config', 'memory.yaml'], { cwd })
  t.same([folder.code, folder.stdout], [1, ''])
  t.match(folder.stderr, /vector_store: found "postgres", but a folder for memories \(--data\) requires pglite/)
  const missing = await runCli(['serve', '--env-file', 'gone.env'], { cwd })
  // Node.js 20 also reads --env-file after the program's name, and ends with 9 before the program begins.
  t.ok(missing.code === 1 || missing.code === 9)
  t.match(missing.stderr, /gone\.env(?: cannot be read \(no such file\)|: not found)/)
})

t.test('a reader that stops ends the command quietly', async (t) => {
  const { url, cli } = await cliServer(t)
  const lines = Array.from({ length: 4000 }, (_, index) => JSON.stringify({
    text: `Fact number ${index} of many, long enough to fill a pipe.`,
  }))
  t.equal(
    (await cli(['import', 'bank'], {
      stdin: `{"format":"memory-gateway-export","version":1}\n${lines.join('\n')}\n`,
    })).code,
    0,
  )
  const { process: child, result } = spawnCli(['export', 'bank'], { env: { MEMORY_GATEWAY_URL: url } })
  child.stdout?.once('data', () => { child.stdout?.destroy() })
  const { code, stderr } = await result
  t.same([code, stderr], [0, ''])
})

t.test('Ctrl-C ends a command with exit code 130 and leaves no partial files', async (t) => {
  const recall = await silentServer(t)
  const asking = spawnCli(['recall', 'bank', 'query'], { env: { MEMORY_GATEWAY_URL: recall.url } })
  await recall.asked
  asking.process.kill('SIGINT')
  t.same(await asking.result, { code: 130, stdout: '', stderr: 'interrupted\n' })

  const bank = await silentServer(t)
  const importing = spawnCli(['import', 'bank'], {
    env: { MEMORY_GATEWAY_URL: bank.url }, stdin: '{"format":"memory-gateway-export","version":1}\n{"text":"A."}\n',
  })
  await bank.asked
  importing.process.kill('SIGINT')
  t.same(await importing.result, {
    code: 130,
    stdout: '',
    stderr: 'interrupted: 0 imported, 0 already stored or expired; the same command continues from here\n',
  })
})

t.test('an import reports an unreachable server, and does not call it an interruption', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const { code, stderr } = await runCli(['import', 'bank'], {
    env: { MEMORY_GATEWAY_URL: `http://127.0.0.1:${port}` },
    stdin: '{"format":"memory-gateway-export","version":1}\n{"text":"A."}\n',
  })
  t.equal(code, 1)
  t.match(stderr, /^the connection to http:\/\/127\.0\.0\.1:\d+ failed \(ECONNREFUSED\)/)
})

t.test('completion knows commands, options and their values', async (t) => {
  const { stdout, code } = await runCli(['completion', 'bash'])
  t.equal(code, 0)
  const complete = async (...words: string[]) => {
    const script = `${stdout}\nCOMP_WORDS=(memory-gateway ${words.map((word) => `'${word}'`).join(' ')}); ` +
      `COMP_CWORD=${words.length}; _memory_gateway; echo "\${COMPREPLY[@]}"`
    return (await promisify(execFile)('bash', ['-c', script])).stdout.trim()
  }
  t.equal(await complete('rec'), 'recall')
  t.equal(await complete('config', 's'), 'show schema')
  t.equal(await complete('recall', 'bank', '--exp'), '--explain')
  t.equal(await complete('import', '--from', 'm'), 'mem0')
  t.equal(await complete('completion', 'z'), 'zsh')
  // The shell itself offers files where the function offers nothing.
  t.equal(await complete('export', 'bank', '--output', '/dev/nul'), '')
  for (const shell of ['zsh', 'fish']) {
    const script = await runCli(['completion', shell])
    t.equal(script.code, 0)
    for (const word of ['recall', 'explain', 'schema', 'langgraph']) t.match(script.stdout, word, `${shell} ${word}`)
  }
  t.equal((await runCli(['completion', 'tcsh'])).code, 2)
})

t.test('credentials come from variables or from a profile that only its owner can read', async (t) => {
  const { url } = await cliServer(t, { auth: { mode: 'api_key', apiKey: 'the-key' } })
  const home = t.testdir({})
  const folder = join(home, 'memory-gateway')
  mkdirSync(folder)
  const write = (name: string, text: string, mode = 0o600) => {
    writeFileSync(join(folder, `${name}.env`), text)
    chmodSync(join(folder, `${name}.env`), mode)
  }
  const banks = async (env: Record<string, string> = {}, args: string[] = []) => (
    await runCli(['banks', '--json', ...args], { env: { XDG_CONFIG_HOME: home, ...env } })
  )
  const profile = `MEMORY_GATEWAY_URL=${url}\nMEMORY_GATEWAY_API_KEY=the-key\nMEMORY_GATEWAY_PRINCIPAL=user:ada\n`
  write('default', profile)
  write('work', profile.replace('the-key', 'another'))
  write('open', profile, 0o640)
  write('typo', 'MEMORY_GATEWAY_KEY=the-key\n')
  t.same(await banks(), { code: 0, stdout: '{"banks":[]}\n', stderr: '' })
  t.match(await banks({}, ['--profile', 'work']), {
    code: 1, stderr: /Invalid or missing API key.*\nSet MEMORY_GATEWAY_API_KEY/,
  })
  t.equal((await banks({ MEMORY_GATEWAY_API_KEY: 'the-key' }, ['--profile', 'work'])).code, 0, 'a variable wins')
  t.match(
    await banks({ MEMORY_GATEWAY_URL: url.replace('127.0.0.1', 'localhost') }),
    { code: 1, stderr: /Invalid or missing API key/ }, 'another server does not get the key',
  )
  t.equal((await banks({ MEMORY_GATEWAY_URL: `${url}/` })).code, 0, 'the same server in another form does')
  t.match(await banks({}, ['--profile', 'open']), { code: 1, stderr: /can be read by others; run chmod 600 on it/ })
  t.match(await banks({}, ['--profile', 'typo']), {
    code: 1, stderr: /typo\.env: line 1 sets an unknown variable; allowed are MEMORY_GATEWAY_URL, /,
  })
  t.match(await banks({ MEMORY_GATEWAY_PROFILE: 'gone' }), {
    code: 1, stderr: /gone\.env cannot be read \(no such file\)/,
  })
  write('cut', `MEMORY_GATEWAY_URL=${url}\n  # of the team\n` +
    'MEMORY_GATEWAY_API_KEY=the-key#Zq\nMEMORY_GATEWAY_TOKEN: Zq\n')
  const cut = await banks({}, ['--profile', 'cut'])
  t.match(cut, { code: 1, stderr: /cut\.env: line 3 has a # in its value[^]*cut\.env: line 4 is not of the form/ })
  t.notMatch(cut.stderr, /Zq/)
  write('spaced', `export  ${profile.replace('MEMORY_GATEWAY_PRINCIPAL', '\t \n\tMEMORY_GATEWAY_PRINCIPAL')}`)
  t.equal((await banks({}, ['--profile', 'spaced'])).code, 0)
  t.equal((await banks({}, ['--profile', '../x'])).code, 2)
  t.match(await banks({ MEMORY_GATEWAY_URL: 'ftp://user:secret@host' }), {
    code: 2, stderr: /^(?!.*secret)MEMORY_GATEWAY_URL must be/,
  })
  t.match(
    await banks({ MEMORY_GATEWAY_URL: url, MEMORY_GATEWAY_API_KEY: 'a', MEMORY_GATEWAY_TOKEN: 'b' }),
    { code: 2, stderr: /both set/ },
  )
  const phrase = 'correct horse battery'
  const other = await cliServer(t, { auth: { mode: 'api_key', apiKey: phrase } })
  const withKey = async (key: string) => await banks({
    MEMORY_GATEWAY_URL: other.url, MEMORY_GATEWAY_API_KEY: key, MEMORY_GATEWAY_PRINCIPAL: 'user:ada',
  })
  t.equal((await withKey(phrase)).code, 0, 'a key may be a phrase')
  t.match(await withKey('Zq\u00e9'), {
    code: 2, stderr: /^(?!.*Zq)MEMORY_GATEWAY_API_KEY must consist of visible ASCII/,
  })
})

t.test('a principal beyond ASCII is sent as the gateway reads it', async (t) => {
  const principals = ['user:zoë', 'agent:🤖']
  const { cli, url } = await cliServer(t, {
    file: {
      access_control: { enabled: true, default_policy: 'deny' },
      access_grants: principals.map((principal) => ({ bank_id: 'team', principal, permissions: ['write'] })),
    },
  })
  for (const principal of principals) {
    const env = { MEMORY_GATEWAY_URL: url, MEMORY_GATEWAY_PRINCIPAL: principal }
    t.match(await cli(['retain', 'team', `${principal} drinks tea.`], { env }), { code: 0, stderr: '' }, principal)
    const refused = await cli(['retain', 'other', 'tea'], { env })
    t.match(refused.stderr, `Principal '${principal}' is denied 'write' on bank 'other'`)
  }
  for (const principal of ['user: ada', 'user:a\tb', `user:${'é'.repeat(252)}`, 'user:\u200bada']) {
    const env = { MEMORY_GATEWAY_URL: url, MEMORY_GATEWAY_PRINCIPAL: principal }
    const stderr = /^MEMORY_GATEWAY_PRINCIPAL must be 1 to 256 visible characters without spaces \(the value/
    t.match(await cli(['banks'], { env }), { code: 2, stderr })
    t.match(await cli(['mcp', '--data', t.testdirName], { env }), { code: 2, stderr })
  }
})
