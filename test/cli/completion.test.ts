import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { runCli } from '../helpers/cli.js'

/*
 * Completion in the shells themselves. Those for which a real TAB is pressed run on a terminal that script(1) makes;
 * .ci/full installs the shells that a machine need not have.
 */
const PROMPT = 'ready> '
const COMMANDS = ['recall', 'reembed', 'reflect', 'restore', 'retain', 'retire']

function has (program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined
}

function skipWithout (...programs: string[]): { skip: string | false } {
  const missing = programs.filter((program) => !has(program))
  return { skip: missing.length > 0 && `${missing.join(' and ')} is not there` }
}

/** The script for a shell, in a file. */
async function scriptOf (t: Test, shell: string): Promise<string> {
  const { code, stdout } = await runCli(['completion', shell])
  t.equal(code, 0)
  return join(t.testdir({ completion: stdout }), 'completion')
}

/** The path of a file up to the space in its name. */
async function fileWithSpace (t: Test): Promise<string> {
  return join(
    t.testdir({ completion: await readFile(join(t.testdirName, 'completion'), 'utf8'), 'two words.ndjson': '' }), 'two',
  )
}

/**
 * Types into an interactive shell.
 * @param setUp lines before the prompt that is waited for
 * @returns a function that types, and gives all that the shell has shown since as soon as it matches
 */
async function typing (
  t: Test, shell: string, setUp: string,
): Promise<(keys: string, until: RegExp) => Promise<string>> {
  const child = spawn('timeout', ['-k', '1', '60', 'script', '-qec', shell, '/dev/null'], {
    env: { PATH: process.env['PATH'] ?? '', HOME: t.testdirName, TERM: 'xterm', LC_ALL: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  // The shell ends with its terminal.
  t.teardown(() => { child.kill('SIGTERM') })
  const ended = once(child, 'close')
  let shown = ''
  child.stdout.setEncoding('utf8')
  const type = async (keys: string, until: RegExp) => {
    shown = ''
    child.stdin.write(keys)
    while (!until.test(shown)) {
      const data: unknown = await Promise.race([once(child.stdout, 'data'), ended])
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the shell has ended after ${shown}`)
      shown += String(data)
    }
    return shown
  }
  // The number distinguishes the prompt from the line that sets it.
  await type(`${setUp}; PS1="$((20 + 2)) ${PROMPT}"\n`, new RegExp(`22 ${PROMPT}`))
  return type
}

const PRODUCTS = ['hindsight', 'mem0', 'langgraph', 'claude', 'chatgpt']
const offered = (names: readonly string[]) => new RegExp(names.map((name) => `(?=[^]*${name})`).join(''))

t.test('completion works in bash', skipWithout('bash', 'script'), async (t) => {
  const type = await typing(t, 'bash --norc --noprofile -i', `source ${await scriptOf(t, 'bash')}`)
  // The second TAB lists what the first could not decide.
  t.match(await type('memory-gateway re\t\t', offered(COMMANDS)), /reflect/)
  t.match(await type('\u0015memory-gateway recall bank --exp\t', /--explain/), '--explain')
  t.match(await type('\u0015memory-gateway import --from m\t', /mem0/), 'mem0')
  t.match(await type('\u0015memory-gateway import --from=m\t', /mem0/), 'mem0')
  t.match(await type('\u0015memory-gateway import --from \t\t', offered(PRODUCTS)), /mem0/)
  t.match(await type('\u0015memory-gateway completion z\t', /zsh/), 'zsh')
  t.match(await type('\u0015memory-gateway config s\t\t', offered(['schema', 'show'])), /show/)
  t.match(await type('\u0015memory-gateway proposals d\t', /dismiss/), 'dismiss')
  t.match(await type('\u0015memory-gateway proposals list bank --state d\t', /dismissed/), 'dismissed')
  t.match(await type('\u0015memory-gateway help do\t', /doctor/), 'doctor')
  t.match(await type('\u0015memory-gateway export bank --output /dev/nul\t', /\/dev\/null/), '/dev/null')
  t.match(await type(`\u0015memory-gateway import bank ${await fileWithSpace(t)}\t`, /two\\ words\.ndjson/), 'words')
})

t.test('completion works in zsh', skipWithout('zsh', 'script'), async (t) => {
  const setUp = `autoload -Uz compinit; compinit -D -u; source ${await scriptOf(t, 'zsh')}`
  const type = await typing(t, 'zsh -f -i', setUp)
  t.match(await type('memory-gateway re\t', offered(COMMANDS)), /reflect/)
  t.match(await type('\u0015memory-gateway recall bank --exp\t', /--explain/), '--explain')
  t.match(await type('\u0015memory-gateway import --from m\t', /mem0/), 'mem0')
  t.match(await type('\u0015memory-gateway import --from=m\t', /mem0/), 'mem0')
  t.match(await type('\u0015memory-gateway import --from \t', offered(PRODUCTS)), /mem0/)
  t.match(await type('\u0015memory-gateway completion z\t', /zsh/), 'zsh')
  // The folder that the shell stands in has files whose names begin so.
  t.notMatch(await type('\u0015memory-gateway config s\t', offered(['schema', 'show'])), /scripts|server/)
  t.match(await type('\u0015memory-gateway help do\t', /doctor/), 'doctor')
  t.match(await type('\u0015memory-gateway export bank --output /dev/nul\t', /\/dev\/null/), '/dev/null')
  t.match(await type(`\u0015memory-gateway import bank ${await fileWithSpace(t)}\t`, /two\\ words\.ndjson/), 'words')
})

t.test('completion works in fish', skipWithout('fish'), async (t) => {
  const script = await scriptOf(t, 'fish')
  // What TAB would offer, from fish's own completion.
  const complete = async (line: string) => {
    const { stdout } = await promisify(execFile)('fish', [
      '--no-config', '-c', `source ${script}; complete -C '${line}'`,
    ], {
      env: { PATH: process.env['PATH'] ?? '', HOME: t.testdirName },
    })
    return stdout.split('\n').filter((each) => each !== '').map((each) => each.split('\t')[0])
  }
  t.same((await complete('memory-gateway re')).sort(), COMMANDS)
  t.same(await complete('memory-gateway config s'), ['schema', 'show'])
  t.same(await complete('memory-gateway proposals d'), ['dismiss'])
  t.ok((await complete('memory-gateway recall bank --exp')).includes('--explain'))
  t.same(await complete('memory-gateway import --from m'), ['mem0'])
  t.same(await complete('memory-gateway import --from=m'), ['--from=mem0'])
  t.same((await complete('memory-gateway import --from ')).sort(), [...PRODUCTS].sort())
  t.same(await complete('memory-gateway completion z'), ['zsh'])
  t.same((await complete('memory-gateway help re')).sort(), COMMANDS)
  const file = await fileWithSpace(t)
  t.same(await complete(`memory-gateway import bank ${file}`), [`${file} words.ndjson`])
  t.same(await complete('memory-gateway retain s'), [])
})
