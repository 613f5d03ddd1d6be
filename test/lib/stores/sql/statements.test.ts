import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { makeBankConfigStatements } from '../../../../lib/stores/sql/bank-config-statements.js'
import { countStatement, listStatement } from '../../../../lib/stores/sql/reading-statements.js'
import { makeReembeddingStatements } from '../../../../lib/stores/sql/reembedding-statements.js'
import { searchStatement } from '../../../../lib/stores/sql/search-statement.js'
import { nearestStatement } from '../../../../lib/stores/sql/semantic-strategy.js'
import { makeStatements } from '../../../../lib/stores/sql/statements.js'
import type { Filters, SearchRequest } from '../../../../lib/stores/vector-store.js'
import { NOW } from '../../../helpers/memories.js'

const SCHEMA = '"s"'
const BANK = { tenantId: 'acme', bankId: 'team' }
const SOURCES = fileURLToPath(new URL('../../../../lib/stores/sql/', import.meta.url))
const MIGRATIONS = fileURLToPath(new URL('../../../../migrations/', import.meta.url))

/** The query that a place of the text belongs to: what is in the parentheses around it, without those inside. */
function queryAround (text: string, place: number): string {
  let start = place
  for (let depth = 0; start > 0; start--) {
    const character = text[start - 1]
    if (character === ')') depth++
    else if (character === '(' && depth-- === 0) break
  }
  let own = ''
  for (let at = start, depth = 0; at < text.length; at++) {
    const character = text[at]
    if (character === ')' && depth-- === 0) break
    if (depth === 0) own += character
    if (character === '(') depth++
  }
  return own.replaceAll(/\s+/g, ' ')
}

/**
 * The one table whose rows belong to a tenant and a key: a receipt is found by these, whatever bank its work was on.
 */
const BY_KEY = 'idempotency_keys'

/**
 * What is wrong with the references of a statement to the tables of the schema. Nothing: it can touch one bank only, or
 * one key.
 */
function problems (text: string): string[] {
  const found: string[] = []
  for (const { index } of text.matchAll(/"s"\./g)) {
    const before = /(\w+)\s+$/.exec(text.slice(0, index))?.[1]?.toLowerCase()
    const [, table = '', alias = ''] = /^"s"\.(\w+)(?:\s+(?:as\s+)?(\w+))?/.exec(text.slice(index)) ?? []
    const own = queryAround(text, index)
    const complain = (reason: string) => { found.push(`${before} ${table}: ${reason}`) }
    if (before === 'into') {
      const rest = text.slice(index)
      if (!/^"s"\.\w+(\s+as\s+\w+)?\s*\(tenant_id, bank_id, [^)]*\)\s*(values \(|select )\$1, \$2, /.test(rest)) {
        complain('does not insert $1, $2 as tenant_id, bank_id')
      }
      // Two unique indexes know the key of a receipt: its insert says nothing of which one it met, and changes no row.
      if (table === BY_KEY && /on conflict do nothing( returning k\.key)?\s*$/.test(own)) continue
      if (/on conflict/.test(own) && !/on conflict \(tenant_id, bank_id, /.test(rest) &&
        !/^[^]*?on conflict \(tenant_id, bank_id\)/.test(rest)) {
        complain('its conflict does not begin with ' +
          'tenant_id, bank_id')
      }
      continue
    }
    if (!['from', 'join', 'using', 'update'].includes(before ?? '')) {
      complain('is not a way to name a table that this test knows')
      continue
    }
    if (alias === '' || ['where', 'on', 'set', 'join', 'using'].includes(alias)) {
      complain('has no alias')
      continue
    }
    const isOfOneKey = table === BY_KEY &&
      new RegExp(`\\b${alias}\\.tenant_id = \\$1 and ${alias}\\.key = \\$[23](?!\\d)`).test(own)
    // Places of rows in the same table, from a query inside, which is checked by itself.
    const isByPlace = new RegExp(`^"s"\\.${table} ${alias} where ${alias}\\.ctid = any\\(array\\([^"]*` +
      `select (\\w)\\.ctid from "s"\\.${table} \\1\\s`).test(text.slice(index))
    if (!isOfOneKey && !isByPlace && !own.includes(`${alias}.tenant_id = $1 and ${alias}.bank_id = $2`)) {
      complain(`lacks ${alias}.tenant_id = $1 and ${alias}.bank_id = $2`)
    }
    if ([...own.matchAll(new RegExp(`"s"\\.\\w+ (?:as )?${alias}\\b`, 'g'))].length > 1) {
      complain(`is one of two that are called ${alias}`)
    }
    if (/ or /i.test(own)) complain('has an alternative beside its bank')
  }
  return found
}

function texts (statements: object): string[] {
  return Object.values(statements).flatMap((value: unknown) => (
    typeof value === 'string' ? [value] : texts(value as object)
  ))
}

const FILTERS: Filters[] = [
  {},
  { tags: { values: ['a'], match: 'any' } },
  {
    tags: { values: ['a', 'b'], match: 'all' },
    metadata: { topic: 'otters' },
    occurredAfter: 1,
    occurredBefore: 2,
    asOf: 3,
  },
  { documentIds: ['diary'] },
]

t.test('every statement on a bank names it by both keys, wherever it names a table, and a receipt by ' +
  'tenant and key', (t) => {
  const all = texts(makeStatements(SCHEMA))
  t.ok(all.length >= 20)
  for (const text of all) {
    // A lock names the bank and no table.
    if (/^select pg_advisory_xact_lock/.test(text)) t.match(text, /\$1 \|\| chr\(1\) \|\| \$2/)
    else t.match(text, /"s"\./)
    t.same(problems(text), [], text)
  }
  t.end()
})

t.test('every statement that moves a bank to another model names it by both keys', (t) => {
  for (const text of texts(makeReembeddingStatements(SCHEMA))) {
    t.match(text, /"s"\./)
    t.same(problems(text), [], text)
  }
  t.end()
})

t.test('every statement on the configuration of a bank names it by both keys', (t) => {
  for (const text of texts(makeBankConfigStatements(SCHEMA))) {
    t.match(text, /"s"\./)
    t.same(problems(text), [], text)
  }
  t.end()
})

t.test('every form of a search names its bank by both keys', (t) => {
  const words = { terms: ['otter', 'river'], k1: 0.9 }
  const forms = [{ length: { pivot: 25 }, context: true }, { length: { b: 0.3 }, context: false }].map((form) => ({
    lexical: { ...words, ...form },
  }))
  const semantic = { semantic: { vector: Float32Array.of(1, 0) } }
  const space = { model: 'm', dimensions: 2 }
  const seen = new Set<string>()
  for (const strategies of [semantic, ...forms, ...forms.map((form) => ({ ...form, ...semantic }))]) {
    for (const filters of FILTERS) {
      const request: SearchRequest = { banks: [BANK], now: NOW, limit: 10, filters, ...strategies }
      const statements = [
        searchStatement(BANK, request, { schema: SCHEMA, space }),
        searchStatement(BANK, request, { schema: SCHEMA, space, nearest: { found: 0, ids: '{}', scores: '{}' } }),
        nearestStatement(BANK, request, semantic.semantic.vector, { schema: SCHEMA, space }),
      ]
      for (const statement of statements) {
        t.same(statement?.values.slice(0, 2), ['acme', 'team'])
        t.same(problems(statement?.text ?? ''), [], statement?.text ?? '')
        seen.add(statement?.text ?? '')
      }
    }
  }
  t.equal(
    seen.size, 36, 'each is another: only a search by words does not know of the index, and the index not of words',
  )
  t.end()
})

t.test('every form of a list names its bank by both keys', (t) => {
  for (const filters of FILTERS) {
    for (const after of [undefined, { retainedAt: NOW, memoryId: '01936f0e-7b3c-7a10-8d2f-000000000001' }]) {
      const statement = listStatement(SCHEMA, BANK, {
        now: NOW, limit: 10, filters, ...(after !== undefined && { after }),
      })
      t.same(statement?.values.slice(0, 2), ['acme', 'team'])
      t.same(problems(statement?.text ?? ''), [], statement?.text ?? '')
    }
    const count = countStatement(SCHEMA, BANK, { now: NOW, limit: 10, filters })
    t.same(count?.values.slice(0, 2), ['acme', 'team'])
    t.same(problems(count?.text ?? ''), [], count?.text ?? '')
  }
  t.end()
})

t.test('a statement that does not stay within its bank is detected', (t) => {
  const bad = [
    'select 1 from "s".memories m',
    'select 1 from "s".memories',
    'select 1 from "s".memories where tenant_id = $1 and bank_id = $2',
    'select 1 from "s".memories m where m.tenant_id = $1',
    'select 1 from "s".memories m where m.bank_id = $2',
    'select 1 from "s".memories m where m.tenant_id = $2 and m.bank_id = $1',
    'select 1 from "s".memories m where m.tenant_id = $1 and m.bank_id = $2 or m.memory_id = $3',
    'select 1 from "s".memories m where (m.tenant_id = $1 and m.bank_id = $2 or m.memory_id = $3)',
    'select 1 from "s".memories m join "s".postings p on p.memory_id = m.memory_id where m.tenant_id = $1 and ' +
      'm.bank_id = $2',
    'select 1 from "s".memories m, "s".postings p where m.tenant_id = $1 and m.bank_id = $2',
    'with x as (select 1 from "s".memories m) select 1 from "s".memories m where m.tenant_id = $1 and m.bank_id = $2',
    'select 1 from "s".memories m where m.tenant_id = $1 and m.bank_id = $2 and exists (select from "s".embeddings m ' +
      'where m.memory_id = $3)',
    'delete from "s".memories m using "s".postings p where p.tenant_id = $1 and p.bank_id = $2',
    'update "s".memories m set text = $3 where m.memory_id = $4',
    'update "s".memories set text = $3',
    'insert into "s".memories (memory_id) values ($3)',
    'insert into "s".memories (bank_id, tenant_id, memory_id) values ($1, $2, $3)',
    'insert into "s".memories (tenant_id, bank_id, memory_id) values ($2, $1, $3)',
    'insert into "s".memories (tenant_id, bank_id, memory_id) select x.tenant_id, x.bank_id, x.memory_id from x',
    'insert into "s".memories (tenant_id, bank_id, memory_id) values ($1, $2, $3) on conflict (memory_id) do nothing',
    'truncate "s".memories',
    // A receipt may be named by tenant and key, and nothing else may.
    'select 1 from "s".memories m where m.tenant_id = $1 and m.key = $2',
    'select 1 from "s".idempotency_keys k where k.tenant_id = $1',
    'select 1 from "s".idempotency_keys k where k.key = $2',
    'select 1 from "s".idempotency_keys k where k.tenant_id = $2 and k.key = $1',
    'select 1 from "s".idempotency_keys k where k.tenant_id = $1 and k.key = x.key',
    'select 1 from "s".idempotency_keys k where k.tenant_id = $1 and k.key = $2 or k.kept_at > $3',
    'delete from "s".idempotency_keys k where k.tenant_id = $1 and k.kept_at <= $2',
    'update "s".idempotency_keys k set answer = $3 where k.key = $2',
    'insert into "s".idempotency_keys as k (tenant_id, key) values ($1, $2) on conflict do nothing',
    'insert into "s".idempotency_keys as k (tenant_id, bank_id, key) values ($1, $2, $3) on conflict (key) do nothing',
    'insert into "s".idempotency_keys as k (tenant_id, bank_id, key) values ($1, $2, $3) on conflict (tenant_id, ' +
      'key) do update set answer = $4',
    'insert into "s".memories as m (tenant_id, bank_id, memory_id) values ($1, $2, $3) on conflict do nothing',
  ]
  for (const text of bad) t.not(problems(text).length, 0, text)
  const good = [
    'select 1 from "s".memories m where m.tenant_id = $1 and m.bank_id = $2 and (m.expires_at is null or ' +
      'm.expires_at > $3)',
    'select 1 from "s".idempotency_keys k where k.tenant_id = $1 and k.key = $2',
    'delete from "s".idempotency_keys k where k.tenant_id = $1 and k.bank_id = $2',
    'insert into "s".idempotency_keys as k (tenant_id, bank_id, key) values ($1, $2, $3) on conflict do nothing ' +
      'returning k.key',
  ]
  for (const text of good) t.same(problems(text), [], text)
  t.end()
})

/**
 * What spans banks on purpose, as `file: verb table`: the list of banks, the looks for what has expired or is of past
 * days, for what waits for its vectors or its context, for what was embedded with another model and for big banks, the
 * configurations of the banks of a request, the changes of configurations in their order, and housekeeping. What these
 * find is worked on bank by bank.
 */
const SPANNING = [
  'bank-config-changes.ts: from bank_configuration_changes',
  'bank-config-changes.ts: join bank_configurations',
  'readiness.ts: from bank_statistics',
  'readiness.ts: from embedding_spaces',
  'readiness.ts: from embeddings',
  'reading-statements.ts: from embedding_spaces',
  'reading-statements.ts: from embeddings',
  'reading-statements.ts: from memories',
  'reembedding.ts: [` memories',
  'reembedding.ts: from bank_statistics',
  // eslint-disable-next-line no-template-curly-in-string
  'sweeper.ts: (analyze) ${table}',
  // eslint-disable-next-line no-template-curly-in-string
  'sweeper.ts: (skip_locked) ${table}',
  'sweeper.ts: from bank_statistics',
  'sweeper.ts: from daily_usage',
  'sweeper.ts: from idempotency_keys',
  'sweeper.ts: from memories',
  'sweeper.ts: from postings',
  'vector-indexes.ts: from bank_statistics',
  'vector-indexes.ts: join embedding_spaces',
]
/** Files of nothing but statements on one bank. */
const LOOKED_AT = [
  'bank-config-statements.ts', 'fragments.ts', 'statements.ts', 'reembedding-statements.ts',
  'removal-statements.ts', 'usage.ts',
  'space-statements.ts', 'vector-statements.ts', 'search-statement.ts', 'search-shape.ts', 'lexical-strategy.ts',
  'lexical-context.ts', 'bounded-rows.ts', 'semantic-strategy.ts',
]
/** Names of tables that are compared or defined, not read: migrations, and the indexes of big banks. */
const DEFINING = ['migrations.ts', 'vector-indexes.ts']

/** Every place of a source where a table of the schema is named: the word before it, and the table. */
function references (source: string): string[] {
  return [...source.matchAll(/(\S+)\s*\$\{(?:this\.#options\.|this\.#)?schema\}\.(\w+|\$\{\w+\})/g)].map(
    ([, verb = '', table = '']) => `${verb.replaceAll(/^.*[^a-z](?=[a-z]+$)/g, '')} ${table}`,
  )
}

t.test('no other file names a table, except for those that span banks on purpose', (t) => {
  const files = readdirSync(SOURCES).filter((name) => name.endsWith('.ts'))
  const spanning = files.filter((name) => !LOOKED_AT.includes(name)).flatMap((name) => {
    const source = readFileSync(join(SOURCES, name), 'utf8')
    // Its other statements are on one bank, and are looked at above.
    const rest = name === 'reading-statements.ts'
      ? source.slice(source.indexOf('export function listBanksStatement'))
      : source
    return references(rest).filter((reference) => (
      !DEFINING.includes(name) || /^(from|join|into|update|using) (?!schema_migrations)/.test(reference)
    )).map((reference) => `${name}: ${reference}`)
  })
  t.same([...new Set(spanning)].sort(), SPANNING)
  t.same(
    // eslint-disable-next-line no-template-curly-in-string
    references('`select 1 from ${schema}.memories m`, `join ${this.#options.schema}.${name}`'),
    // eslint-disable-next-line no-template-curly-in-string
    ['from memories', 'join ${name}'],
  )
  t.end()
})

/** The list of changes of configurations is of all banks, in the order of the changes. */
const KEY_OF_ALL_BANKS = 'create table bank_configuration_changes (\n  tenant_id text collate "C" not null,\n  ' +
  'bank_id text collate "C" not null,\n  revision bigint not null,\n  changed_at bigint not null,\n  primary key ' +
  '(revision)\n);'

/** A key that a caller sent is one key, whatever bank it is sent for. */
const KEY_OF_RECEIPTS = 'create unique index idempotency_keys_by_key on idempotency_keys (tenant_id, key);'

/** Keys, constraints and indexes of a script that do not begin with the bank, and tables that lack it. */
function looseKeys (sql: string): string[] {
  const code = sql.replaceAll(/--.*$/gm, '').replace(KEY_OF_ALL_BANKS, '').replace(KEY_OF_RECEIPTS, '')
  const keys = [
    ...code.matchAll(
      /(?:primary key|unique|create (?:unique )?index (?:if not exists )?\w+ on \w+(?: using \w+)?)\s*\(([^)]*)/gi,
    ),
  ]
  const inline = [...code.matchAll(/^\s*\w+ [\w ]+ (primary key|unique)\b(?!\s*\()/gim)].map(([line]) => line.trim())
  const tables = [...code.matchAll(/create table (?:if not exists )?(\w+) \(([^]*?)\n\)/gi)]
  return [
    ...keys.filter(([, columns = '']) => !/^tenant_id, bank_id\b/.test(columns.trim())).map(([key]) => key),
    ...inline,
    ...tables.filter(([, , body = '']) => (
      !/^\s*tenant_id text collate "C" not null,\s*bank_id text collate "C" not null,/.test(body) ||
        !/primary key \(tenant_id, bank_id/.test(body)
    )).map(([, name = '']) => name),
  ]
}

t.test('every key and index of the schema begins with the bank, but for the keys of receipts, which begin ' +
  'with the tenant', (t) => {
  for (const name of readdirSync(MIGRATIONS).filter((name) => name.endsWith('.sql'))) {
    t.same(looseKeys(readFileSync(join(MIGRATIONS, name), 'utf8')), [], name)
  }
  for (const bad of [
    'create index a on memories (memory_id);',
    'create unique index a on memories (bank_id, tenant_id);',
    'create index a on embeddings using hnsw (embedding halfvec_cosine_ops);',
    'create table a (\n  tenant_id text collate "C" not null,\n  bank_id text collate "C" not null,\n  primary key ' +
      '(memory_id)\n);',
    'create table a (\n  id int primary key\n);',
    'alter table memories add constraint a unique (fingerprint);',
    'create unique index memories_by_key on memories (tenant_id, key);',
    'create unique index idempotency_keys_by_key on idempotency_keys (key);',
  ]) t.not(looseKeys(bad).length, 0, bad)
  t.end()
})
