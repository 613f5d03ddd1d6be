import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort } from '../../bench/free-port.js'

/** Where Debian puts the programs of each major version, and the files of its extensions. */
const PROGRAMS = '/usr/lib/postgresql'
const SHARED = '/usr/share/postgresql'
const OLDEST = 15
const TRIES = 5

/** A server of the system's own PostgreSQL that knows nothing of pgvector. */
export interface PlainPostgres {
  major: number
  /** The URI of its superuser. */
  url: string
}

function majorWithoutPgvector (): number | undefined {
  if (!existsSync(PROGRAMS)) return undefined
  const majors = readdirSync(PROGRAMS).map(Number).filter((major) => major >= OLDEST)
  return majors.find((major) => (
    existsSync(`${PROGRAMS}/${major}/bin/initdb`) && !existsSync(`${SHARED}/${major}/extension/vector.control`)
  ))
}

const MAJOR = majorWithoutPgvector()

/** Why there is no such server here; false where there is. */
export const skipPlain = MAJOR === undefined
  ? `no PostgreSQL ${OLDEST} or newer without pgvector in ${PROGRAMS}`
  : false

/** PostgreSQL refuses to run as root. */
function unprivileged (): { uid?: number, gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** A separate cluster, which is stopped and removed when the test ends. */
export async function plainPostgres (t: Test): Promise<PlainPostgres> {
  if (MAJOR === undefined) throw new Error('There is no such server: skip the test')
  const folder = mkdtempSync(join(tmpdir(), 'plain-postgres-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const user = unprivileged()
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o700)
  const bin = `${PROGRAMS}/${MAJOR}/bin`
  const data = join(folder, 'data')
  const options = { ...user, cwd: folder, env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8' } }
  execFileSync(
    `${bin}/initdb`, ['-D', data, '-U', 'app', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    { ...options, stdio: 'ignore' },
  )
  for (let tried = 1; ; tried++) {
    // Another process may take the port before the start.
    const port = await freePort()
    const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder} -c fsync=off`
    const { status } = spawnSync(
      `${bin}/pg_ctl`, ['-D', data, '-l', join(folder, 'log'), '-w', '-o', settings, 'start'],
      { ...options, stdio: 'ignore' },
    )
    if (status === 0) {
      t.teardown(
        () => {
          spawnSync(
          `${bin}/pg_ctl`, ['-D', data, '-m', 'immediate', '-w', 'stop'], { ...options, stdio: 'ignore' },
          )
        },
      )
      return { major: MAJOR, url: `postgres://app@127.0.0.1:${port}/postgres` }
    }
    if (tried === TRIES) throw new Error(readFileSync(join(folder, 'log'), 'utf8'))
  }
}
