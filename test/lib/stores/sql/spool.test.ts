import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { Spools } from '../../../../lib/stores/sql/spool.js'
import type { Memory } from '../../../../lib/stores/vector-store.js'
import { collect } from '../../../contract/vector-store/setup.js'
import { newMemory, storedForm } from '../../../helpers/memories.js'

const PAGE = 1024 * 1024

/** Memories of a megabyte each, with all that could end a line of a file. */
async function memories (count: number): Promise<Memory[]> {
  const [sample] = [storedForm(await newMemory('line\nfeed, \u2028separator, \r and "quotes"', { metadata: Object.fromEntries([['__proto__', 'x\n'], ['n', 1]]), tags: ['\n'] }))]
  return Array.from({ length: count }, (_, index) => ({ ...sample!, memoryId: `memory ${index}`, text: `${index}\n${sample!.text}${'é'.repeat(PAGE)}` }))
}

async function * pages (list: readonly Memory[]): AsyncGenerator<Memory[]> {
  for (const memory of list) yield [memory]
}

const folders = () => new Set(readdirSync(tmpdir()).filter((name) => name.startsWith('memory-gateway-')))

/** The files that are left in folders which were not there before. */
function filesSince (before: ReadonlySet<string>): string[] {
  return [...folders()].filter((name) => !before.has(name)).flatMap((name) => readdirSync(join(tmpdir(), name)).filter((file) => file.startsWith('export-')))
}

t.test('a bank that fits is held in memory', async (t) => {
  const before = folders()
  const spools = new Spools()
  const list = await memories(3)
  const { count, memories: spooled } = await spools.spool(pages(list))
  t.equal(count, 3)
  t.strictSame(filesSince(before), [])
  t.strictSame(await collect(spooled), list)
  await spools.close()
})

t.test('the rest of a large one is in a file until it has been read', async (t) => {
  const before = folders()
  const spools = new Spools()
  const list = await memories(12)
  const { count, memories: spooled } = await spools.spool(pages(list))
  t.equal(count, 12)
  t.equal(filesSince(before).length, 1)
  const read = await collect(spooled)
  t.strictSame(read.map(({ memoryId }) => memoryId), list.map(({ memoryId }) => memoryId))
  t.ok(read.every((memory, index) => memory.text === list[index]!.text && Object.hasOwn(memory.metadata, '__proto__')))
  t.strictSame(filesSince(before), [])
  await spools.close()
})

t.test('a reader who gives up, one who never comes, and a scan that breaks off leave no file', async (t) => {
  const before = folders()
  const spools = new Spools()
  const list = await memories(10)
  const givenUp = (await spools.spool(pages(list))).memories[Symbol.asyncIterator]()
  await givenUp.next()
  await givenUp.return?.()
  t.strictSame(filesSince(before), [])
  await t.rejects(spools.spool((async function * () {
    yield * pages(list)
    throw new Error('the database went away')
  })()), new Error('the database went away'))
  t.strictSame(filesSince(before), [])
  await spools.spool(pages(list))
  t.equal(filesSince(before).length, 1)
  await spools.close()
  t.notOk([...folders()].some((name) => !before.has(name) && existsSync(join(tmpdir(), name, 'export-1.ndjson'))))
})
