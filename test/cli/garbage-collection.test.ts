import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

const MODULE = new URL('../../dist/cli/garbage-collection.js', import.meta.url).href

/** Keeps 200,000 objects alive, and replaces them one after the other, so that the old ones become garbage. */
const PROGRAM = `
const kept = []
for (let count = 0; count < 3_000_000; count++) kept[count % 200_000] = { count, text: 'text ' + count }
`

async function countFullCollections (heapMegabytes: number, source: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    `--max-old-space-size=${heapMegabytes}`, '--trace-gc', '--input-type=module', '--eval', source,
  ])
  return stdout.split('\n').filter((line) => line.includes('Mark-Compact')).length
}

await t.test('a small heap is collected less often', async (t) => {
  const source = `import { collectSmallHeapsLessOften } from '${MODULE}'\ncollectSmallHeapsLessOften()\n${PROGRAM}`
  const byDefault = await countFullCollections(256, PROGRAM)
  const set = await countFullCollections(256, source)
  t.ok(set < byDefault, `${set} full collections instead of ${byDefault}`)
  t.ok(set > 0)
})
