import fc, { SEED } from '../../../helpers/fast-check.js'
import t from 'tap'
import { Sweeper } from '../../../../lib/stores/sql/sweeper.js'
import type { NewMemory, VectorStore } from '../../../../lib/stores/vector-store.js'
import { bank, listAll, REMOVE } from '../../../contract/vector-store/setup.js'
import { newMemory, NOW, withTags } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'
import { indexLines } from './index-support.js'

const database = await sqlDatabase(t)
const home = bank('home')
const NAMES = Array.from({ length: 24 }, (_, index) => `key ${index}`)
const DOCUMENTS = ['letter', 'diary', null]

type Step =
  | { kind: 'insert' | 'batch' | 'skip' | 'overwrite', names: string[], brief: boolean, life: number }
  | { kind: 'remove', tag: string }
  | { kind: 'forget', name: string }
  | { kind: 'attach' | 'sweep' | 'empty' }

const names = fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 8 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({
      kind: fc.constantFrom('insert' as const, 'batch' as const, 'skip' as const, 'overwrite' as const),
      names,
      brief: fc.boolean(),
      life: fc.nat(2),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('remove' as const), tag: fc.constantFrom('a', 'b', 'c') }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('forget' as const), name: fc.constantFrom(...NAMES) }) },
  { weight: 5, arbitrary: fc.constant({ kind: 'attach' as const }) },
  { weight: 5, arbitrary: fc.constant({ kind: 'sweep' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'empty' as const }) },
)

/**
 * Each name is one fingerprint; the second writer repeats it, or waits for the one that removes it. A name's place in
 * its document differs from life to life, and so do its words and whether it asks something; every other memory has no
 * vectors yet.
 */
async function memoriesOf (chosen: readonly string[], brief: boolean, life: number, now: number): Promise<NewMemory[]> {
  return await Promise.all(chosen.map(async (name, index) => {
    const number = NAMES.indexOf(name)
    const memory = await newMemory(`${name} of ${brief ? 'brief' : 'lasting'} life ${life} word${number % 5} ` +
      `word${(number + life) % 7}${number % 3 === 0 ? '?' : ''}`, {
      fingerprint: name,
      tags: [['a', 'b', 'c'][index % 3]!],
      documentId: DOCUMENTS[(number + (life === 2 ? 1 : 0)) % 3]!,
      occurredAt: life === 0 ? null : NOW + (number * 7 + life) % 10,
      ...(number % 2 === 0 && { vectors: [[1, index, 0, 0]] }),
      expiresAt: brief ? now + 3 : null,
    })
    // As the analyser will say.
    return {
      ...memory, passages: memory.passages.map((passage) => ({ ...passage, question: memory.text.endsWith('?') })),
    }
  }))
}

t.test('many simultaneous operations on one bank succeed, and its index stays correct', async (t) => {
  let clock = NOW
  const [list] = fc.sample(fc.array(fc.array(step, { minLength: 40, maxLength: 40 }), { minLength: 8, maxLength: 8 }), {
    numRuns: 1, seed: SEED,
  })
  const schema = schemaIn(t, database)
  const store: VectorStore = await storeIn(database, { schema })
  const sweeper = new Sweeper({
    executor: database, schema, intervalMs: 0, vacuum: false,
  })
  const act = async (what: Step): Promise<void> => {
    const now = clock++
    switch (what.kind) {
      case 'sweep':
        await sweeper.sweep(now)
        return
      case 'remove':
        await store.remove(home, withTags([what.tag]), { ...REMOVE, now })
        return
      case 'empty':
        await store.remove(home, { kind: 'all' }, { ...REMOVE, now })
        return
      case 'forget': {
        const memoryIds = (await listAll(store, home, { now })).filter(({ text }) => text.startsWith(`${what.name} `))
          .map(({ memoryId }) => memoryId)
        if (memoryIds.length > 0) await store.remove(home, { kind: 'ids', memoryIds }, { ...REMOVE, now })
        return
      }
      case 'attach': {
        const waiting = await store.listUnembedded!({ now, limit: 5 })
        await store.attachVectors!(home, waiting.map(({ memory: { memoryId }, fingerprint }) => (
          { memoryId, fingerprint, vectors: [Float32Array.of(1, 0, 0, 0)] }
        )), now)
        return
      }
      case 'insert':
      case 'batch':
      case 'skip':
      case 'overwrite': {
        const memories = await memoriesOf(
          what.kind === 'insert' ? what.names.slice(0, 1) : what.names, what.brief, what.life, now,
        )
        if (what.kind === 'insert' || what.kind === 'batch') await store.insert(home, memories, { now })
        else await store.import(home, memories, { now, onConflict: what.kind })
      }
    }
  }
  const failures: unknown[] = []
  await Promise.all(list!.map(async (steps) => {
    for (const what of steps) await act(what).catch((error: unknown) => { failures.push(error) })
  }))
  t.strictSame(failures, [])
  // The last steps may have removed everything.
  await act({ kind: 'batch', names: NAMES.slice(0, 8), brief: false, life: 0 })

  const one = async (text: string) => (
    (await database.read<Record<string, number>>(text.replaceAll('@', `${schema}.`)))[0]
  )
  t.strictSame(
    await one('select sum(memories)::int as memories, sum(embedded)::int as embedded, sum(expiring)::int as ' +
      'expiring, sum(passages)::int as passages, sum(length)::float8 as length from @bank_statistics'),
    await one('select count(*)::int as memories, count(*) filter (where embedded)::int as embedded, ' +
      'count(expires_at)::int as expiring, sum(cardinality(passage_starts))::int as passages, ' +
      'sum(passages_length)::float8 as length from @memories'),
    'the statistics are those of the memories',
  )
  const { expected, found } = await indexLines(database, schema)
  t.ok(expected.length > 0)
  t.strictSame(found, expected, 'the index is that of the memories in their documents')
  t.strictSame(
    await one('select count(*)::int as strays from @embeddings e where not exists (select from @memories m where ' +
      'm.memory_id = e.memory_id)'),
    { strays: 0 },
  )
  t.strictSame(
    await one('select count(*)::int as vectors from @embeddings'),
    await one('select count(*)::int as vectors from @memories where embedded'),
  )
})
