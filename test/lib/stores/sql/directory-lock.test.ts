import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { ProviderError } from '../../../../lib/config/providers/registry.js'
import { lockDirectory } from '../../../../lib/stores/sql/directory-lock.js'

const MODULE = new URL('../../../../lib/stores/sql/directory-lock.ts', import.meta.url).href

/** Says `ready`, tries to lock the directory on a message, reports the outcome, and lives until it is ended. */
const TAKER = `
  import { lockDirectory } from ${JSON.stringify(MODULE)}
  process.stdin.once('data', async () => {
    try {
      await lockDirectory(process.argv[1])
      console.log('locked')
    } catch (error) {
      console.log('refused: ' + error.message)
    }
  })
  console.log('ready')
`

interface Taker {
  child: ChildProcess
  /** Tries, and tells `locked` or `refused: …`. */
  take (): Promise<string>
  end (): Promise<void>
}

async function startTaker (t: Test, directory: string): Promise<Taker> {
  const child = spawn(
    process.execPath, ['--import', 'tsx', '--input-type=module', '-e', TAKER, directory],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async () => String((await lines.next()).value)
  t.teardown(async () => { child.kill('SIGKILL'); await ended })
  t.equal(await line(), 'ready')
  return {
    child,
    take: async () => { child.stdin.write('\n'); return await line() },
    end: async () => { child.kill('SIGKILL'); await ended },
  }
}

function lockOf (directory: string): string {
  return join(directory, 'lock')
}

async function edit (directory: string, changes: object): Promise<void> {
  await writeFile(lockOf(directory), JSON.stringify({
    ...JSON.parse(await readFile(lockOf(directory), 'utf8')) as object, ...changes,
  }))
}

async function refused (t: Test, directory: string, message: RegExp): Promise<void> {
  const found: unknown = await lockDirectory(directory).catch((error: unknown) => error)
  t.type(found, ProviderError)
  t.match(found instanceof Error ? found.message : '', message)
}

t.test('a directory is created and locked until the lock is released', async (t) => {
  const directory = join(t.testdir({}), 'parent', 'data')
  const lock = await lockDirectory(directory)
  t.equal((await stat(directory)).mode & 0o777, 0o700)
  t.equal((await stat(join(directory, '..'))).mode & 0o777, 0o700)
  t.same(readdirSync(directory), ['lock'])
  t.match(JSON.parse(await readFile(lockOf(directory), 'utf8')), {
    pid: process.pid,
    start: existsSync('/proc/self/stat') ? /^\d+$/ : null,
    host: hostname(),
    when: /^\d{4}-\d\d-\d\dT/,
  })
  await lock.release()
  t.same(readdirSync(directory), [])
  const again = await lockDirectory(directory)
  await lock.release()
  t.ok(existsSync(lockOf(directory)), 'a second release does not take away the lock of another')
  await again.release()
})

t.test('a second lock in the same process is refused', async (t) => {
  const directory = t.testdir({})
  const lock = await lockDirectory(directory)
  await refused(t, directory, new RegExp(`in use by process ${process.pid} on ${hostname()} since .*; ` +
    'only one process can use a directory'))
  t.same(readdirSync(directory), ['lock'])
  await lock.release()
})

t.test('one of several callers in the same process gets the lock', async (t) => {
  const directory = t.testdir({})
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, async () => await lockDirectory(directory)))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  t.same(readdirSync(directory), ['lock'])
})

t.test('a lock is refused while its holder lives, and taken over when the holder was killed', async (t) => {
  const directory = t.testdir({})
  const holder = await startTaker(t, directory)
  t.equal(await holder.take(), 'locked')
  await refused(t, directory, new RegExp(`in use by process ${holder.child.pid} on `))
  await holder.end()
  const lock = await lockDirectory(directory)
  t.match(JSON.parse(await readFile(lockOf(directory), 'utf8')), { pid: process.pid })
  t.same(readdirSync(directory), ['lock'])
  await lock.release()
})

t.test('a lock is taken over when another process has its ' +
  'process id now', { skip: !existsSync('/proc/self/stat') }, async (t) => {
  const directory = t.testdir({})
  await lockDirectory(directory)
  await edit(directory, { start: '1' })
  const lock = await lockDirectory(directory)
  t.not((JSON.parse(await readFile(lockOf(directory), 'utf8')) as { start: string }).start, '1')
  await lock.release()
})

t.test('the process id alone decides where the holder could not read its start time', async (t) => {
  const directory = t.testdir({})
  await lockDirectory(directory)
  await edit(directory, { start: null })
  await refused(t, directory, /in use by process/)
})

t.test('one of two processes takes over the lock of a dead one', async (t) => {
  const directory = t.testdir({})
  const dead = await startTaker(t, directory)
  t.equal(await dead.take(), 'locked')
  const first = await startTaker(t, directory)
  const second = await startTaker(t, directory)
  await dead.end()
  const said = await Promise.all([first.take(), second.take()])
  t.equal(said.filter((text) => text === 'locked').length, 1, said.join(' / '))
  t.equal(said.filter((text) => /^refused: .* in use by process/.test(text)).length, 1)
  const winner = said[0] === 'locked' ? first : second
  t.equal((JSON.parse(await readFile(lockOf(directory), 'utf8')) as { pid: number }).pid, winner.child.pid)
  t.same(readdirSync(directory), ['lock'])
})

t.test('one of many processes takes over the lock of a dead one, in any order', async (t) => {
  const ended = spawn(process.execPath, ['-e', ''])
  await once(ended, 'exit')
  const dead = { pid: ended.pid, start: '1', host: hostname(), when: '2026-01-01T00:00:00.000Z' }
  for (let round = 0; round < 20; round++) {
    const directory = t.testdir({ lock: JSON.stringify(dead) })
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, async () => await lockDirectory(directory)))
    if (outcomes.filter(({ status }) => status === 'fulfilled').length !== 1) t.fail(`round ${round}`)
    if (readdirSync(directory).join() !== 'lock') t.fail(`round ${round} left ${readdirSync(directory).join()}`)
  }
})

t.test('a lock is taken over from a process that died while it took over', async (t) => {
  const ended = spawn(process.execPath, ['-e', ''])
  await once(ended, 'exit')
  const dead = JSON.stringify({ pid: ended.pid, start: '1', host: hostname(), when: '2026-01-01T00:00:00.000Z' })
  const { createHash } = await import('node:crypto')
  const claim = `lock.${createHash('sha256').update(dead).digest('hex').slice(0, 16)}`
  const directory = t.testdir({ lock: dead, [claim]: dead.replace('2026-01-01', '2026-01-02') })
  const lock = await lockDirectory(directory)
  t.same(readdirSync(directory), ['lock'])
  await lock.release()
})

t.test('the lock of another host is refused, with what to do', async (t) => {
  const directory = t.testdir({})
  await lockDirectory(directory)
  await edit(directory, { host: 'elsewhere', pid: 1 })
  await refused(t, directory, /in use by process 1 on elsewhere since .* when that host is gone, delete .*lock/)
})

t.test('a lock file that this program did not write is refused', async (t) => {
  for (const text of [
    '', '4711\n', '{', 'null', '[]', '{"pid":0,"start":null,"host":"a","when":"b"}',
    '{"pid":7,"start":7,"host":"a","when":"b"}',
  ]) {
    const directory = t.testdir({ lock: text })
    await refused(t, directory, /lock is not a lock of Memory Gateway/)
    t.equal(await readFile(lockOf(directory), 'utf8'), text)
  }
})

t.test('a lock that another process has taken over is not removed', async (t) => {
  const directory = t.testdir({})
  const lock = await lockDirectory(directory)
  await edit(directory, { host: 'elsewhere' })
  await lock.release()
  t.ok(existsSync(lockOf(directory)))
})

t.test('a directory with other content is refused', async (t) => {
  const foreign = t.testdir({ 'notes.txt': 'mine' })
  await refused(t, foreign, /is not a Memory Gateway data directory/)
  t.same(readdirSync(foreign), ['notes.txt'])
  const ours = t.testdir({ db: {}, 'notes.txt': 'mine' })
  await (await lockDirectory(ours)).release()
  const volume = t.testdir({ 'lost+found': {} })
  await (await lockDirectory(volume)).release()
})

t.test('a path that cannot be used is refused with the reason', async (t) => {
  const directory = t.testdir({ file: '' })
  await refused(t, join(directory, 'file'), /^vector_store: the data directory .* cannot be used: EEXIST/)
  await refused(t, join(directory, 'file', 'below'), /cannot be used: ENOTDIR/)
  const full = join(directory, 'full')
  await mkdir(join(full, 'lock'), { recursive: true })
  await refused(t, full, /cannot be used: EISDIR/)
})
