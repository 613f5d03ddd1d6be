import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { PatroniCluster } from '../../bench/durability/patroni.js'
import type { Report } from '../../bench/durability/report.js'
import { DATABASE_URL, openPostgres } from '../helpers/sql-stores.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const missing = PatroniCluster.missing()
const skip = DATABASE_URL === undefined
  ? 'TEST_DATABASE_URL is not set'
  : missing.length > 0 ? `not installed: ${missing.join(', ')}` : false

t.test('under Patroni a killed primary and a switchover lose nothing that was acknowledged', { skip }, async (t) => {
  // The cluster is made with the programs of the server of the tests, which have pgvector.
  const [programs] = await openPostgres(t).query<{ bin: string }>(
    'select setting as bin from pg_config where name = \'BINDIR\'',
  )
  const folder = mkdtempSync(join(tmpdir(), 'failover-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const file = join(folder, 'report.json')
  const { stderr } = await promisify(execFile)('npx', [
    'tsx', 'bench/durability/main.ts', '--failover', '2', '--clients', '4', '--pg-bin', programs!.bin, '--json', file,
  ], { cwd: ROOT }).catch((error: { stderr: string }) => { throw new Error(error.stderr) })
  t.comment(stderr)
  const report: Report = JSON.parse(readFileSync(file, 'utf8'))
  const [{ faults, tableFaults } = { faults: [], tableFaults: [] }] = report.stores
  t.same(tableFaults, [])
  t.same(faults.map(({ name }) => name), ['the primary is killed', 'switchover'])
  for (const { name, acknowledged, lost, duplicates, keysWrong, examples } of faults) {
    t.match({ lost, duplicates, keysWrong, examples }, { lost: 0, duplicates: 0, keysWrong: 0, examples: [] }, name)
    t.ok(acknowledged > 50, `${acknowledged} memories were acknowledged`)
  }
})
