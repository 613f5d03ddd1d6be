import { readdirSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { SpoolFile } from '../../../../lib/stores/sql/spool-file.js'

const LINES = ['one', 'zwei é', 'x'.repeat(600_000), '']

async function read (file: SpoolFile): Promise<string[]> {
  const lines = []
  for await (const line of file.lines()) lines.push(line)
  return lines
}

/** Writes lines to a file and reads them. @returns the names that its folder ever had meanwhile */
async function namesMeanwhile (t: Test, nameless: boolean): Promise<string[]> {
  const folder = t.testdir({})
  const names = new Set<string>()
  const over = new Promise<void>((resolve) => {
    const watcher = watch(folder, (_, name) => {
      if (name === 'over') resolve()
      // Linux calls a file that has no name by its number.
      else if (!/^#\d+$/.test(String(name))) names.add(String(name))
    })
    t.teardown(() => { watcher.close() })
  })
  const file = await SpoolFile.create(folder, nameless)
  t.strictSame(readdirSync(folder), [])
  for (const line of LINES) await file.write(Buffer.from(`${line}\n`))
  t.strictSame(await read(file), LINES)
  await file.close()
  await t.rejects(read(file), { code: 'dependency_unavailable' }, 'it is gone')
  // The system tells of names in their order.
  writeFileSync(join(folder, 'over'), '')
  await over
  return [...names]
}

t.test('a file never has a name, so that a killed process leaves none', {
  skip: process.platform === 'linux' ? false : 'only Linux knows such files',
}, async (t) => {
  t.strictSame(await namesMeanwhile(t, true), [])
})

t.test('where there are no unnamed files, the name is removed before anything is written', async (t) => {
  const names = await namesMeanwhile(t, false)
  t.equal(names.length, 1)
  t.match(names[0], new RegExp(`^memory-gateway-${process.pid}-[0-9a-f]{16}\\.spool$`))
})

t.test('a missing folder is a fault of the server', async (t) => {
  for (const nameless of [true, false]) {
    await t.rejects(SpoolFile.create(join(t.testdir({}), 'missing'), nameless), { code: 'dependency_unavailable' })
  }
})
