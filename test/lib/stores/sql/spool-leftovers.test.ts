import { existsSync, readdirSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { removeLeftovers, spoolName } from '../../../../lib/stores/sql/spool-leftovers.js'

const WORD = '0123456789abcdef'
const HOUR = 3_600_000
const NOW = Date.parse('2026-01-15T10:00:00.000Z')
const isAlive = (pid: number) => pid === 7

t.test('files of processes that are gone are removed, and nothing else', async (t) => {
  const kept = [
    spoolName(7, WORD), `memory-gateway-8-${WORD}.spool.txt`, `memory-gateway-x-${WORD}.spool`,
    'memory-gateway-8.spool', 'export-1.ndjson', 'other',
  ]
  const folder = t.testdir(Object.fromEntries(
    [...kept, spoolName(8, WORD), spoolName(9, WORD)].map((name) => [name, 'text']),
  ))
  symlinkSync(join(folder, 'other'), join(folder, spoolName(10, WORD)))
  await removeLeftovers(folder, { now: NOW, isAlive })
  t.strictSame(readdirSync(folder).sort(), [...kept, spoolName(10, WORD)].sort(), 'a link is not an export')
})

t.test('a process is alive when the system reports it', async (t) => {
  const folder = t.testdir({
    [spoolName(process.pid, WORD)]: '', [spoolName(1, WORD)]: '', [spoolName(2 ** 30, WORD)]: '',
  })
  await removeLeftovers(folder)
  t.strictSame(readdirSync(folder).sort(), [spoolName(1, WORD), spoolName(process.pid, WORD)].sort())
})

t.test('exports in folders of earlier releases are removed once no process can be reading them', async (t) => {
  const folder = t.testdir({
    'memory-gateway-AbC123': { 'export-1.ndjson': 'old', 'export-2.ndjson': 'young' },
    'memory-gateway-Old456': { 'export-9.ndjson': 'old' },
    'memory-gateway-Empty7': {},
    'memory-gateway-Young8': {},
    'memory-gateway-Test99': { 'export-1.ndjson': 'old', data: { file: '' } },
    'memory-gateway-TooLong1': { 'export-1.ndjson': 'old' },
  })
  const age = (path: string, ms: number) => { utimesSync(join(folder, path), new Date(NOW - ms), new Date(NOW - ms)) }
  for (const path of ['AbC123/export-1', 'Old456/export-9', 'Test99/export-1', 'TooLong1/export-1']) {
    age(`memory-gateway-${path}.ndjson`, HOUR + 1)
  }
  age('memory-gateway-AbC123/export-2.ndjson', HOUR - 1)
  for (const name of ['AbC123', 'Old456', 'Empty7']) age(`memory-gateway-${name}`, 24 * HOUR + 1)
  age('memory-gateway-Young8', 24 * HOUR - 1)
  await removeLeftovers(folder, { now: NOW, isAlive })
  t.strictSame(readdirSync(folder).sort(), [
    'memory-gateway-AbC123', 'memory-gateway-Test99', 'memory-gateway-TooLong1', 'memory-gateway-Young8',
  ])
  t.strictSame(readdirSync(join(folder, 'memory-gateway-AbC123')), ['export-2.ndjson'])
  t.ok(existsSync(join(folder, 'memory-gateway-TooLong1', 'export-1.ndjson')))
  t.ok(existsSync(join(folder, 'memory-gateway-Test99', 'data', 'file')), 'a folder with other content is unchanged')
})

t.test('any number of starts may remove them simultaneously, and a missing folder is no error', async (t) => {
  const folder = t.testdir(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [
    spoolName(100 + index, WORD), '',
  ])))
  await Promise.all(Array.from({ length: 5 }, async () => { await removeLeftovers(folder, { now: NOW, isAlive }) }))
  t.strictSame(readdirSync(folder), [])
  await t.resolves(removeLeftovers(join(folder, 'missing')))
})
