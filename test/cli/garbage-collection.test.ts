import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

const MODULE = new URL('../../dist/cli/garbage-collection.js', import.meta.url).href

/**
 * Keeps 200,000 objects alive, and replaces them one after the other, so that the old ones become garbage; in many
 * turns of the event loop, between which V8 can run tasks.
 */
const PROGRAM = `
const kept = []
let count = 0
function turn () {
  for (const end = count + 2000; count < end; count++) kept[count % 200_000] = { count, text: 'text ' + count }
  if (count < 3_000_000) setImmediate(turn)
}
turn()
`
/** Later versions of Node.js take the option at their start only. */
const IS_NODE_20 = process.versions.node.startsWith('20.')

/** The lines of V8's trace about full collections. */
async function fullCollections (heapMegabytes: number, source: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    `--max-old-space-size=${heapMegabytes}`, '--trace-gc', '--input-type=module', '--eval', source,
  ])
  return stdout.split('\n').filter((line) => line.includes('Mark-Compact'))
}

function withShortCollections (program: string): string {
  return `import { shortenCollectionsOfSmallHeaps } from '${MODULE}'\nshortenCollectionsOfSmallHeaps()\n${program}`
}

await t.test('a small heap is collected less often', async (t) => {
  const { length: byDefault } = await fullCollections(256, PROGRAM)
  const { length: set } = await fullCollections(256, withShortCollections(PROGRAM))
  t.ok(set < byDefault, `${set} full collections instead of ${byDefault}`)
  t.ok(set > 0)
})

await t.test('no task of the main thread marks a small heap', { skip: !IS_NODE_20 }, async (t) => {
  const ofTasks = (lines: string[]) => lines.filter((line) => line.includes('via task')).length
  t.ok(ofTasks(await fullCollections(256, PROGRAM)) > 0)
  const collections = await fullCollections(256, withShortCollections(PROGRAM))
  t.ok(collections.length > 0)
  t.equal(ofTasks(collections), 0)
})
