import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { freePort } from '../../bench/free-port.js'
import { readPage } from './documented.js'

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

t.test('the first steps of the page on the command line run unchanged, and write what it shows', async (t) => {
  const [, script = '', shown = ''] = /## First steps\n[^]*?```sh\n([^]*?)```[^]*?```text\n([^]*?)```/.exec(
    readPage('docs/command-line.md'),
  ) ?? []
  t.match(script, /serve.*\n[^]*retain.*\n[^]*recall.*\n[^]*export.*\n[^]*import/)
  const folder = t.testdir({ bin: {}, home: {} })
  symlinkSync(PROGRAM, join(folder, 'bin/memory-gateway'))
  const port = String(await freePort())
  const shell = spawn('bash', ['-e', '-c', script], {
    cwd: folder,
    // A group of its own, so that a gateway that the script did not end is ended with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      HOME: join(folder, 'home'),
      SERVICES_PORT: port,
      MEMORY_GATEWAY_URL: `http://127.0.0.1:${port}`,
    },
  })
  t.teardown(() => {
    try {
      process.kill(-shell.pid!, 'SIGKILL')
    } catch {
      // Every process of the group has ended.
    }
  })
  const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')])
  const placeholders: Array<[real: RegExp, name: string]> = [
    [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID'], [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'],
    [/^\d\.\d\d(?= )/gm, 'SCORE'], [/\b\d{4}-\d\d-\d\d(?=: )/g, 'DATE'],
  ]
  t.equal(placeholders.reduce((found, [real, name]) => found.replaceAll(real, name), stdout), shown, stderr)
  t.match(readFileSync(join(folder, 'gateway.log'), 'utf8'), /stopping: requests in flight finish/)
  t.equal(shell.exitCode, 0, stderr)
})
