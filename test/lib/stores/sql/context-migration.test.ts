import t from 'tap'
import { migrate, readMigrations } from '../../../../lib/stores/sql/migrations.js'
import { makeStatements } from '../../../../lib/stores/sql/statements.js'
import type { SqlVectorStore } from '../../../../lib/stores/sql/store.js'
import { Sweeper } from '../../../../lib/stores/sql/sweeper.js'
import type { NewMemory } from '../../../../lib/stores/vector-store.js'
import { bank, REMOVE, searchFor, texts } from '../../../contract/vector-store/setup.js'
import { newMemory, NOW } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'

const database = await sqlDatabase(t)
const home = bank('home')
const BEFORE = 6
const COLUMNS = `tenant_id, bank_id, memory_id, fingerprint, text, tags, metadata, occurred_at, retained_at, expires_at,
  document_id, source, tokens,
  passage_starts, passage_ends, terms, passages_length, embedded, trust`
const POSTING = 'tenant_id, bank_id, term, memory_id, ordinal'

/**
 * Two documents of turns, of which every fifth is long, and facts without a document; an odd number is said to be
 * written early.
 */
async function memories (size: number): Promise<NewMemory[]> {
  return await Promise.all(Array.from({ length: size }, async (_, index) => {
    const text = index % 5 === 0
      ? `A long turn ${index} of word${index % 7} it was. And it went on with word${index % 3}`
      : `turn ${index} word${index % 5} word${index % 7}`
    const memory = await newMemory(`${text}${index % 4 === 0 ? '?' : '.'}`, {
      documentId: [null, 'talk', 'letter'][index % 3]!,
      occurredAt: index % 2 === 0 ? null : NOW - index,
      expiresAt: index % 11 === 0 ? NOW + 10 : null,
      tags: index % 2 === 0 ? ['a'] : [],
      chunkMaxCharacters: 45,
    })
    return {
      ...memory,
      passages: memory.passages.map(
        (passage) => ({ ...passage, question: memory.text.slice(passage.start, passage.end).endsWith('?') }),
      ),
    }
  }))
}

/**
 * Lends the terms of each memory of one passage to the next of its document, as a server of the release before does it:
 * rows of its own words say how much of their weight is their own, rows that are lent say 0.
 */
async function lend (schema: string): Promise<void> {
  await database.query(`update ${schema}.postings set own = weight where own is null and exists (
    select from ${schema}.memories m where m.tenant_id = postings.tenant_id and m.bank_id = postings.bank_id
      and m.memory_id = postings.memory_id and m.document_id is not null and cardinality(m.passage_starts) = 1)`)
  await database.query(`insert into ${schema}.postings as p (${POSTING}, weight, own, length, expires_at)
    select n.tenant_id, n.bank_id, o.term, n.next, 0, 0.35 * o.own, 0, n.length, n.expires_at
    from (
      select m.tenant_id, m.bank_id, m.memory_id, lead(m.memory_id) over w as next,
        lead(m.passages_length) over w as length, lead(m.expires_at) over w as expires_at
      from ${schema}.memories m where m.document_id is not null and cardinality(m.passage_starts) = 1
      window w as (partition by m.tenant_id, m.bank_id, m.document_id order by coalesce(m.occurred_at, m.retained_at),
        m.memory_id)
    ) n join ${schema}.postings o on o.tenant_id = n.tenant_id and o.bank_id = n.bank_id and o.memory_id = n.memory_id
      and o.own > 0
    where n.next is not null
    on conflict (${POSTING}) do update set weight = p.weight + excluded.weight`)
  await database.query(`update ${schema}.memories set own_terms = '[["of another release",1]]', question = ` +
    'right(text, 1) = \'?\' where document_id is not null and cardinality(passage_starts) = 1')
}

/** A copy of what is in a schema, in the tables of another. */
async function copy (from: string, to: string): Promise<void> {
  await database.query(`insert into ${to}.memories (${COLUMNS}) select ${COLUMNS} from ${from}.memories`)
  await database.query(`insert into ${to}.postings (${POSTING}, weight, length, expires_at) select ${POSTING}, ` +
    `weight, length, expires_at from ${from}.postings`)
  await database.query(`insert into ${to}.bank_statistics select * from ${from}.bank_statistics`)
}

async function rowsOf (schema: string): Promise<unknown[]> {
  return await database.query(`select p.bank_id, p.term, p.memory_id::text as memory_id, p.ordinal::int as ordinal,
    p.weight::float8 as weight, p.own::float8 as own, p.length::float8 as length, p.expires_at::float8 as expires_at
    from ${schema}.postings p order by p.tenant_id, p.bank_id, p.term, p.memory_id, p.ordinal`)
}

async function hitsOf (store: SqlVectorStore): Promise<unknown> {
  const asked = [
    ['word3 turn', {}], ['word1 long', { filters: { tags: { values: ['a'], match: 'any' } } }],
    ['went', { now: NOW + 10 }], ['word6 word2', { limit: 7 }],
  ] as const
  return await Promise.all(asked.map(async ([query, options]) => {
    const { lexical, total } = await searchFor(store, [home], query, options)
    return {
      total,
      found: lexical!.map(({ memory, score, scores, passages }) => [memory.memoryId, score, scores.own, passages]),
    }
  }))
}

t.test('a database of the previous form finds what a new one finds, in the same order', async (t) => {
  const [old, young] = [schemaIn(t, database), schemaIn(t, database)]
  const reference = await storeIn(database, { schema: young })
  const all = await memories(200)
  t.ok(all.some(({ passages, documentId }) => passages.length > 1 && documentId !== null))
  await reference.insert(home, all, { now: NOW })
  await reference.insert(bank('home', 'acme'), await memories(9), { now: NOW })

  await migrate(database, old, readMigrations().slice(0, BEFORE))
  await copy(young, old)
  await lend(old)
  t.not((await rowsOf(old)).length, (await rowsOf(young)).length, 'rows are lent')
  await migrate(database, old, readMigrations())
  t.strictSame(await rowsOf(old), await rowsOf(young))
  const places = async (schema: string) => (
    await database.query('select m.memory_id::text as memory_id, m.place::float8 as place, m.passage_length, ' +
      `m.document_id is not null and m.question as question from ${schema}.memories m order by m.memory_id, ` +
      'm.bank_id, m.tenant_id')
  )
  t.strictSame(await places(old), await places(young))
  const store = await storeIn(database, { schema: old })
  t.strictSame(await hitsOf(store), await hitsOf(reference))

  for (const each of [store, reference]) {
    await each.remove(home, { kind: 'ids', memoryIds: all.slice(30, 60).map(({ memoryId }) => memoryId) }, REMOVE)
    await each.insert(home, (await memories(210)).slice(200)
      .map((memory, index) => ({ ...memory, memoryId: all[index + 30]!.memoryId })), { now: NOW })
  }
  t.strictSame(await hitsOf(store), await hitsOf(reference))
})

t.test('lent terms of a server of the previous release change no hit, and a sweep removes them', async (t) => {
  const [shared, alone] = [schemaIn(t, database), schemaIn(t, database)]
  const [store, reference] = [await storeIn(database, { schema: shared }), await storeIn(database, { schema: alone })]
  const all = await memories(60)
  for (const each of [store, reference]) await each.insert(home, all, { now: NOW })
  await lend(shared)
  const lent = async () => (
    (await database.query<{ lent: number }>(`select count(*)::int as lent from ${shared}.postings p ` +
      'where p.own = 0'))[0]!.lent
  )
  t.ok(await lent() > 0)
  t.strictSame(await hitsOf(store), await hitsOf(reference))
  await store.remove(home, { kind: 'ids', memoryIds: [all[1]!.memoryId] }, REMOVE)
  await reference.remove(home, { kind: 'ids', memoryIds: [all[1]!.memoryId] }, REMOVE)
  t.strictSame(await hitsOf(store), await hitsOf(reference))
  t.notOk(texts((await searchFor(store, [home], 'turn')).lexical!).includes(all[1]!.text))
  const statements = makeStatements(shared)
  await new Sweeper({ executor: database, schema: shared, statements, intervalMs: 0, vacuum: false }).sweep(NOW)
  t.equal(await lent(), 0)
  t.strictSame(await hitsOf(store), await hitsOf(reference))
})
