import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { Spools, type SpoolOptions } from '../../../../lib/stores/sql/spool.js'
import type { Memory } from '../../../../lib/stores/vector-store.js'
import { collect } from '../../../contract/vector-store/setup.js'
import { newMemory, storedForm } from '../../../helpers/memories.js'

const MIB = 1024 * 1024

/** Memories of a megabyte each, with all that could end a line of a file. */
async function memories (count: number): Promise<Memory[]> {
  const [sample] = [
    storedForm(
      await newMemory('line\nfeed, \u2028separator, \r and "quotes"', {
        metadata: Object.fromEntries([['__proto__', 'x\n'], ['n', 1]]), tags: ['\n'],
      }),
    ),
  ]
  return Array.from(
    { length: count },
    (_, index) => ({ ...sample!, memoryId: `memory ${index}`, text: `${index}\n${sample!.text}${'é'.repeat(MIB)}` }),
  )
}

async function * pages (list: readonly Memory[]): AsyncGenerator<Memory[]> {
  for (const memory of list) yield [memory]
}

/** Spools whose files are in a folder of their own. */
function open (t: Test, options: SpoolOptions = {}) {
  const folder = t.testdir({})
  const spools = new Spools({ folder, ...options })
  t.teardown(async () => { await spools.close() })
  return {
    folder,
    spool: async (list: readonly Memory[]) => await spools.spool(pages(list), 'caller'),
    spools,
    left: () => readdirSync(folder),
  }
}

/** Whether a scan is refused because files have no room: the only thing that shows how much others hold. */
const BUSY = { code: 'server_busy', retryAfterSeconds: 1 }

t.test('a bank that fits is held in memory, and the rest of a larger one in a file without a name', async (t) => {
  const { spool, left } = open(t, { fileBytes: 16 * MIB })
  for (const count of [3, 12]) {
    const list = await memories(count)
    const { count: counted, memories: spooled } = await spool(list)
    t.equal(counted, count)
    t.strictSame(left(), [])
    const read = await collect(spooled)
    t.strictSame(read.map(({ memoryId }) => memoryId), list.map(({ memoryId }) => memoryId))
    t.ok(read.every((memory, index) => (
      memory.text === list[index]!.text && Object.hasOwn(memory.metadata, '__proto__') && memory.tags[0] === '\n'
    )))
    t.strictSame(read.map(({ tokens }) => tokens.value), list.map(({ tokens }) => tokens.value))
  }
})

t.test('all exports share the bytes that are held without a file', async (t) => {
  const { spool } = open(t, { fileBytes: MIB })
  const [first, second] = [await spool(await memories(4)), await spool(await memories(3))]
  await t.rejects(spool(await memories(2)), BUSY, 'the second of them would need a file')
  await first.memories.return?.()
  t.equal((await spool(await memories(3))).count, 3)
  t.equal((await collect(second.memories)).length, 3)
})

t.test('files have a bound, and every way to end releases the space', async (t) => {
  const { spools, spool, left } = open(t, { memoryCharacters: 0, fileBytes: 12 * MIB })
  const large = await memories(4)
  const ways: Array<[about: string, leave: () => Promise<unknown>]> = [
    ['reading to the end', async () => { await collect((await spool(large)).memories) }],
    ['a reader who gives up', async () => {
      const reader = (await spool(large)).memories[Symbol.asyncIterator]()
      await reader.next()
      await reader.return?.()
    }],
    ['a loop that is left', async () => {
      // eslint-disable-next-line no-unreachable-loop
      for await (const memory of (await spool(large)).memories) return memory
      return undefined
    }],
    ['a reader who never comes', async () => { await (await spool(large)).memories.return?.() }],
    ['one who leaves twice', async () => {
      const { memories } = await spool(large)
      await Promise.all([memories.return?.(), memories.return?.()])
      await memories.return?.()
      t.strictSame(await collect(memories), [])
    }],
    ['a scan that breaks off', async () => {
      await t.rejects(spools.spool((async function * () {
        yield * pages(large)
        throw new Error('the database went away')
      })(), 'caller'), new Error('the database went away'))
    }],
    ['one that finds no room', async () => { await t.rejects(spool(await memories(5)), BUSY) }],
  ]
  for (const [about, leave] of ways) {
    for (let round = 0; round < 2; round++) await t.resolves(leave(), about)
    t.strictSame(left(), [], about)
  }
  const standing = await spool(large)
  await t.rejects(spool(large), BUSY)
  t.equal((await collect(standing.memories)).length, 4, 'a refused export takes no bytes from the other')
})

t.test('a folder that is not writable is not the fault of the client', async (t) => {
  const { spool } = open(t, { folder: `${t.testdir({})}/missing`, memoryCharacters: 0 })
  await t.rejects(spool(await memories(1)), { code: 'dependency_unavailable' })
})

t.test('closing releases what was not read', async (t) => {
  const { spool, spools } = open(t, { memoryCharacters: 0, fileBytes: 4 * MIB })
  const { memories: spooled } = await spool(await memories(1))
  await spools.close()
  await t.rejects(collect(spooled))
  t.equal((await spool(await memories(1))).count, 1)
})

t.test('closing while a file is created also closes that file', async (t) => {
  const { spools } = open(t, { memoryCharacters: 0 })
  const list = await memories(1)
  const spooling = spools.spool(pages(list), 'caller')
  // No file can have been opened before the next turn of the event loop.
  for (let step = 0; step < 20; step++) await Promise.resolve()
  await spools.close()
  await t.rejects(spooling, { code: 'dependency_unavailable' })
})
