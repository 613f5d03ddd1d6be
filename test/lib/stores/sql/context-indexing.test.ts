import t from 'tap'
import { ContextIndexing } from '../../../../lib/stores/sql/context-indexing.js'
import { migrate, readMigrations } from '../../../../lib/stores/sql/migrations.js'
import { makeStatements } from '../../../../lib/stores/sql/statements.js'
import { Sweeper } from '../../../../lib/stores/sql/sweeper.js'
import type { NewMemory } from '../../../../lib/stores/vector-store.js'
import { bank, lexical, REMOVE, texts } from '../../../contract/vector-store/setup.js'
import { newMemory, NOW } from '../../../helpers/memories.js'
import { schemaIn, sqlDatabase, storeIn } from '../../../helpers/sql-database.js'
import { contextLines } from './context-support.js'

const database = await sqlDatabase(t)
const home = bank('home')
const COLUMNS = `tenant_id, bank_id, memory_id, fingerprint, text, tags, metadata, occurred_at, retained_at, expires_at, document_id, source, tokens,
  passage_starts, passage_ends, terms, passages_length, embedded`

/** Two documents of some turns, with questions, and facts without a document; an odd number is said to be written early. */
async function memories (size: number): Promise<NewMemory[]> {
  return await Promise.all(Array.from({ length: size }, async (_, index) => {
    const memory = await newMemory(`turn ${index} word${index % 5} word${index % 7}${index % 4 === 0 ? '?' : ''}`, {
      documentId: [null, 'talk', 'letter'][index % 3]!,
      occurredAt: index % 2 === 0 ? null : NOW - index,
      expiresAt: index % 11 === 0 ? NOW + 10 : null,
    })
    return { ...memory, passages: memory.passages.map((passage) => ({ ...passage, question: memory.text.endsWith('?') })) }
  }))
}

t.test('data of before the context is brought into it: a store that starts on it has what a new one would have', async (t) => {
  const [old, young] = [schemaIn(t, database), schemaIn(t, database)]
  const reference = await storeIn(database, { schema: young })
  const all = await memories(450)
  await reference.insert(home, all, NOW)
  await reference.insert(bank('home', 'acme'), (await memories(9)), NOW)

  await migrate(database, old, readMigrations().slice(0, 1))
  await database.query(`insert into ${old}.memories (${COLUMNS}) select ${COLUMNS} from ${young}.memories`)
  await database.query(`insert into ${old}.postings (tenant_id, bank_id, term, memory_id, ordinal, weight, length, expires_at)
    select p.tenant_id, p.bank_id, p.term, p.memory_id, p.ordinal, p.own, p.length, p.expires_at from ${young}.postings p where p.own > 0`)
  await database.query(`insert into ${old}.bank_statistics select * from ${young}.bank_statistics`)

  await migrate(database, old, readMigrations())
  const bare = await storeIn(database, { schema: young })
  t.not((await contextLines(database, old)).found.length, (await contextLines(database, young)).found.length)
  const store = await storeIn(database, { schema: old })
  const [mine, theirs] = [await contextLines(database, old), await contextLines(database, young)]
  t.strictSame(mine.found, mine.expected)
  t.strictSame(mine.found, theirs.found)
  const scores = async (of: typeof store) => (await lexical(of, [home], 'word3 turn')).map(({ memory, score, scores }) => [memory.text, score, scores.own])
  t.strictSame(await scores(store), await scores(bare))
  t.equal(await new ContextIndexing({ executor: database, schema: old }).run(), 0, 'once')

  await store.remove(home, { kind: 'ids', memoryIds: all.slice(30, 60).map(({ memoryId }) => memoryId) }, REMOVE)
  const after = await contextLines(database, old)
  t.strictSame(after.found, after.expected)
})

t.test('until it is brought into context a memory neither lends nor borrows, and a sweep brings it in', async (t) => {
  const schema = schemaIn(t, database)
  const store = await storeIn(database, { schema })
  const [first, second, third] = await Promise.all(['an otter', 'next', 'third'].map(async (text, index) => await newMemory(text, { documentId: 'talk', occurredAt: NOW + index })))
  await store.insert(home, [first!, second!], NOW)
  // As a server of the last release stores it.
  await database.query(`update ${schema}.memories set own_terms = null, question = null`)
  await database.query(`delete from ${schema}.postings where own = 0`)
  await database.query(`update ${schema}.postings set weight = own, own = null`)
  t.strictSame(texts(await lexical(store, [home], 'otter')), ['an otter'])
  await store.insert(home, [third!], NOW)
  t.strictSame(texts(await lexical(store, [home], 'otter')), ['an otter'])
  await new Sweeper({ executor: database, schema, statements: makeStatements(schema), intervalMs: 0, vacuum: false }).sweep(NOW)
  t.strictSame(texts(await lexical(store, [home], 'otter')), ['an otter', 'next', 'third'])
  const { found, expected } = await contextLines(database, schema)
  t.strictSame(found, expected)
})
