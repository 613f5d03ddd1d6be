import fc from '../../../helpers/fast-check.js'
import t from 'tap'
import { makeStatements } from '../../../../lib/stores/sql/statements.js'
import { Sweeper } from '../../../../lib/stores/sql/sweeper.js'
import type { NewMemory, VectorStore } from '../../../../lib/stores/vector-store.js'
import { bank, REMOVE } from '../../../contract/vector-store/setup.js'
import { newMemory, NOW } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'

const database = await sqlDatabase(t)
const home = bank('home')
const NAMES = Array.from({ length: 12 }, (_, index) => `key ${index}`)

type Step =
  | { kind: 'insert' | 'batch' | 'skip' | 'overwrite', names: string[], brief: boolean }
  | { kind: 'remove', tag: string }
  | { kind: 'sweep' }

const names = fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 8 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('insert' as const, 'batch' as const, 'skip' as const, 'overwrite' as const), names, brief: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), tag: fc.constantFrom('a', 'b', 'c') }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'sweep' as const }) },
)

/** Each name is one fingerprint; whoever comes second repeats it, or waits for who is removing it. */
async function memoriesOf (chosen: readonly string[], brief: boolean, now: number): Promise<NewMemory[]> {
  return await Promise.all(chosen.map(async (name, index) => await newMemory(`${name} of ${brief ? 'brief' : 'lasting'} life`, {
    fingerprint: name,
    tags: [['a', 'b', 'c'][index % 3]!],
    vectors: [[1, index, 0, 0]],
    expiresAt: brief ? now + 3 : null,
  })))
}

t.test('whatever many do to one bank at once, nobody fails and nothing is left over', async (t) => {
  let clock = NOW
  const [list] = fc.sample(fc.array(fc.array(step, { minLength: 12, maxLength: 12 }), { minLength: 8, maxLength: 8 }), { numRuns: 1, seed: 7 })
  const schema = schemaIn(t, database)
  const store: VectorStore = await storeIn(database, { schema })
  const sweeper = new Sweeper({ executor: database, schema, statements: makeStatements(schema), intervalMs: 0, vacuum: false })
  const act = async (what: Step): Promise<void> => {
    const now = clock++
    if (what.kind === 'sweep') {
      await sweeper.sweep(now)
      return
    }
    if (what.kind === 'remove') {
      await store.remove(home, { kind: 'tags', tags: [what.tag], match: 'any' }, { ...REMOVE, now })
      return
    }
    const memories = await memoriesOf(what.kind === 'insert' ? what.names.slice(0, 1) : what.names, what.brief, now)
    if (what.kind === 'insert' || what.kind === 'batch') await store.insert(home, memories, now)
    else await store.import(home, memories, what.kind, now)
  }
  const failures: unknown[] = []
  await Promise.all(list!.map(async (steps) => {
    for (const what of steps) await act(what).catch((error: unknown) => { failures.push(error) })
  }))
  t.strictSame(failures, [])

  const one = async (text: string) => (await database.read<Record<string, number>>(text.replaceAll('@', `${schema}.`)))[0]
  t.strictSame(
    await one('select sum(memories)::int as memories, sum(embedded)::int as embedded, sum(expiring)::int as expiring, sum(passages)::int as passages, sum(length)::float8 as length from @bank_statistics'),
    await one('select count(*)::int as memories, count(*) filter (where embedded)::int as embedded, count(expires_at)::int as expiring, sum(cardinality(passage_starts))::int as passages, sum(passages_length)::float8 as length from @memories'),
    'the statistics are those of the memories',
  )
  t.strictSame(await one('select count(*)::int as postings, count(distinct (memory_id, term))::int as terms from @postings'), await one('select sum(cardinality(terms))::int as postings, sum(cardinality(terms))::int as terms from @memories'))
  t.strictSame(await one('select count(*)::int as strays from @postings p where not exists (select from @memories m where m.memory_id = p.memory_id and p.term = any(m.terms))'), { strays: 0 })
  t.strictSame(await one('select count(*)::int as strays from @embeddings e where not exists (select from @memories m where m.memory_id = e.memory_id)'), { strays: 0 })
  t.strictSame(await one('select count(*)::int as vectors from @embeddings'), await one('select count(*)::int as vectors from @memories where embedded'))
})
