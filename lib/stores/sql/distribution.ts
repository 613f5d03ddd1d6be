import { ProviderError } from '../../config/providers/registry.js'
import type { Executor, Queries, Transaction } from './executor.js'
import { INDEX_PREFIX } from './fragments.js'

/**
 * What the tables of banks are on: one PostgreSQL, or a cluster of Citus, which has them by the bank's key. There every
 * statement on a bank is one that Citus sends to the bank's node as it is: without a generic plan, and with no INSERT
 * in a CTE, which Citus would run as a command of its own.
 */
export type Distribution = 'none' | 'citus'

const BY_BANK = 'bank_key'
/** Where it is the whole primary key, it is a text that begins with the bank's key. */
const BY_TEXT = 'key'
const HOW_TO_DISTRIBUTE = 'run `npm run migrate -- --distribute` (node dist/scripts/migrate.js --distribute) with ' +
  'the URI of the cluster\'s coordinator'

async function hasCitus (queries: Queries): Promise<boolean> {
  const [found] = await queries.query<{ installed: boolean }>(
    'select to_regclass(\'pg_catalog.pg_dist_partition\') is not null as installed',
  )
  return found?.installed === true
}

/**
 * Whether the database has the extension citus, and the tables of the schema are distributed by it.
 * @throws SqlError
 */
async function stateOf (queries: Queries, schema: string): Promise<{ installed: boolean, distributed: boolean }> {
  if (!await hasCitus(queries)) return { installed: false, distributed: false }
  const rows = await queries.query(
    'select 1 from pg_dist_partition where logicalrelid = to_regclass($1)', [`${schema}.memories`],
  )
  return { installed: true, distributed: rows.length > 0 }
}

/** @throws ProviderError when the tables are not as the setting says */
export async function checkDistribution (
  queries: Queries, schema: string, distribution: Distribution,
): Promise<void> {
  const { installed, distributed } = await stateOf(queries, schema)
  if (distributed === (distribution === 'citus')) return
  const because = distributed
    ? 'it is none, but the tables are distributed by Citus: set it to citus'
    : 'it is citus, but ' + (installed
      ? `the tables are not distributed: ${HOW_TO_DISTRIBUTE}, or set it to none`
      : 'the database does not have the extension citus: connect to a node of the cluster, or set it to none')
  throw new ProviderError(`vector_store_config.distribution: ${because}`)
}

interface Table {
  name: string
  /** The first of its primary key. */
  column: string
}

/** The tables of the schema, `memories` first. */
async function tablesOf (queries: Queries, schema: string): Promise<Table[]> {
  return await queries.query<Table>(`select c.relname as name, a.attname as column from pg_class c
join pg_index x on x.indrelid = c.oid and x.indisprimary
join pg_attribute a on a.attrelid = c.oid and a.attnum = x.indkey[0]
where c.relnamespace = to_regnamespace($1) and c.relkind in ('r', 'p') and not c.relispartition
order by c.relname <> 'memories', c.relname`, [schema])
}

interface Division {
  executor: Executor
  /** Quoted. */
  schema: string
  /** Receives a line for each action. */
  info: (line: string) => void
}

/** @throws ProviderError unless the database is that of a coordinator with nodes for data, and SqlError */
export async function checkCoordinator (queries: Queries): Promise<void> {
  if (!await hasCitus(queries)) {
    throw new ProviderError('vector_store: the database does not have the extension citus. It must be installed ' +
      'and preloaded on every node, and created in this database of each: create extension citus')
  }
  const [node] = await queries.query<{ coordinator: boolean, workers: number }>(`select
  (select groupid from pg_dist_local_group) = 0 as coordinator,
  (select count(*)::int from pg_dist_node n where n.isactive and n.shouldhaveshards) as workers`)
  if (node?.coordinator !== true) {
    throw new ProviderError(`vector_store: this node is a worker of the cluster: ${HOW_TO_DISTRIBUTE}`)
  }
  if (node.workers === 0) {
    throw new ProviderError('vector_store: no node of the cluster may have data: add workers with citus_add_node')
  }
}

/**
 * Distributes the tables of banks by the bank's key, all of a bank on one node, and copies the global ones to every
 * node. What is distributed already stays as it is.
 * @param shards number of parts of each table; undefined: citus.shard_count
 * @throws ProviderError, SqlError
 */
export async function distributeTables ({ executor, schema, info }: Division, shards?: number): Promise<void> {
  await checkCoordinator(executor)
  const distributed = await executor.transaction(async (tx) => {
    const known = new Set((await tx.query<{ name: string }>('select c.relname as name from pg_dist_partition p ' +
      'join pg_class c on c.oid = p.logicalrelid where c.relnamespace = to_regnamespace($1)', [schema]))
      .map(({ name }) => name))
    const tables = await tablesOf(tx, schema)
    if (shards !== undefined) await tx.script(`set local citus.shard_count = ${Math.trunc(shards)}`)
    const missing = tables.filter(({ name }) => !known.has(name))
    for (const { name, column } of missing) {
      const table = `${schema}.${name}`
      if (name === 'memories') {
        await tx.query(`select create_distributed_table($1::regclass, '${BY_BANK}', colocate_with => 'none')::text`,
          [table])
      } else if (column === BY_BANK) {
        await tx.query(`select create_distributed_table($1::regclass, '${BY_BANK}', colocate_with => $2)::text`,
          [table, `${schema}.memories`])
      } else if (column === BY_TEXT) {
        await tx.query(`select create_distributed_table($1::regclass, '${BY_TEXT}', colocate_with => 'none')::text`,
          [table])
      } else await tx.query('select create_reference_table($1::regclass)::text', [table])
    }
    return missing.map(({ name }) => name)
  }, { bulk: true })
  // What the coordinator had is on the nodes now, and is not seen any more.
  for (const name of distributed) {
    const table = `${schema}.${name}`
    await executor.query('select truncate_local_data_after_distributing_table($1::regclass)::text', [table])
  }
  info(distributed.length === 0 ? 'all tables are distributed' : `distributed ${distributed.join(', ')}`)
}

/** Parts of a table. */
interface Definitions {
  /** Storage parameters of the table, which a table of partitions cannot have. */
  options: string | null
  constraints: string[]
  indexes: string[]
  grants: string[]
  /** The columns that are not generated. */
  columns: string
}

/**
 * Divides the tables of banks into partitions by the hash of the bank's key, in one transaction that locks them. What
 * has so many partitions stays as it is. Vector indexes are dropped, for the next maintenance to build them.
 * @throws ProviderError when a table has another number of partitions, or is distributed
 * @throws SqlError
 */
export async function partitionTables ({ executor, schema, info }: Division, partitions: number): Promise<void> {
  const divided = await executor.transaction(async (tx) => {
    if ((await stateOf(tx, schema)).distributed) {
      throw new ProviderError('vector_store: the tables are distributed by Citus, which divides them already')
    }
    const missing: string[] = []
    for (const { name } of (await tablesOf(tx, schema)).filter(({ column }) => column === BY_BANK)) {
      const [found] = await tx.query<{ partitioned: boolean, parts: number }>(`select c.relkind = 'p' as partitioned,
  (select count(*)::int from pg_inherits i where i.inhparent = c.oid) as parts
from pg_class c where c.oid = $1::regclass`, [`${schema}.${name}`])
      if (found?.partitioned !== true) missing.push(name)
      else if (found.parts !== partitions) {
        throw new ProviderError(`vector_store: the table ${name} has ${found.parts} partitions, and that number ` +
          'cannot be changed: export the banks and import them into a new schema to have another')
      }
    }
    for (const name of missing) await partition(tx, schema, name, Math.trunc(partitions))
    return missing
  }, { bulk: true })
  for (const name of divided) await executor.maintain(`analyze ${schema}.${name}`)
  info(divided.length === 0
    ? `all tables of banks have ${partitions} partitions`
    : `divided into ${partitions} partitions: ${divided.join(', ')}`)
}

async function partition (tx: Transaction, schema: string, name: string, partitions: number): Promise<void> {
  const [table, plain] = [`${schema}.${name}`, `${schema}.${name}_plain`]
  await tx.script(`lock table ${table} in access exclusive mode`)
  const [found] = await tx.query<Definitions>(`select array_to_string(c.reloptions, ', ') as options,
  array(select format('alter table %s add constraint %I %s', $1::text, k.conname, pg_get_constraintdef(k.oid))
    from pg_constraint k where k.conrelid = c.oid and k.contype in ('p', 'u') order by k.contype) as constraints,
  array(select pg_get_indexdef(x.indexrelid) from pg_index x join pg_class i on i.oid = x.indexrelid
    where x.indrelid = c.oid and not starts_with(i.relname::text, '${INDEX_PREFIX}')
      and not exists (select 1 from pg_constraint k where k.conindid = x.indexrelid)
    order by i.relname) as indexes,
  array(select format('grant %s on %s to %s', g.privilege_type, $1::text,
      case when g.grantee = 0 then 'public' else quote_ident(pg_get_userbyid(g.grantee)) end)
    from aclexplode(c.relacl) g where g.grantee <> c.relowner) as grants,
  (select string_agg(quote_ident(a.attname), ', ') from pg_attribute a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
from pg_class c where c.oid = $1::regclass`, [table])
  const { options, constraints, indexes, grants, columns } = found!
  const parts = Array.from({ length: partitions }, (_, number) => (
    `create table ${table}_part${number} partition of ${table} ` +
      `for values with (modulus ${partitions}, remainder ${number})${options === null ? '' : ` with (${options})`}`
  ))
  await tx.script([
    `alter table ${table} rename to ${name}_plain`,
    `create table ${table} (like ${plain} including all excluding indexes) partition by hash (${BY_BANK})`,
    ...parts,
    `insert into ${table} (${columns}) select ${columns} from ${plain}`,
    `drop table ${plain}`,
    ...constraints, ...indexes, ...grants,
  ].join(';\n'))
}
