import type { Executor } from '../../lib/stores/sql/executor.js'
import { failed, ok, warning, type Finding } from './finding.js'

/** An open database. */
export interface OpenDatabase {
  executor: Executor
  /** Quoted. */
  schema: string
}

const CHECK = 'rights'
const RIGHTS = ['select', 'insert', 'update', 'delete'] as const
/** The most rights that a message names; it only mentions that there are more. */
const NAMED = 3

/** The current role. The `quoted…` names can be used in SQL unchanged. */
interface Role {
  role: string
  superuser: boolean
  quotedRole: string
  quotedDatabase: string
}

async function roleOf ({ executor }: OpenDatabase): Promise<Role> {
  const [role] = await executor.read<Role>(`
select current_user::text as role, quote_ident(current_user) as "quotedRole",
  quote_ident(current_database()) as "quotedDatabase",
  (select rolsuper from pg_roles where rolname = current_user) as superuser`)
  if (role === undefined) throw new Error('the database knows no current user')
  return role
}

/**
 * Whether the role may read and write the rows of the tables.
 * @returns undefined as long as there are no tables
 */
export async function rightsFinding ({ executor, schema }: OpenDatabase): Promise<Finding | undefined> {
  const { role, quotedRole, superuser } = await roleOf({ executor, schema })
  const rows = await executor.read<{ right: string, on: string, has: boolean }>(`
select 'usage' as right, nspname::text as on, has_schema_privilege(oid, 'usage') as has
from pg_namespace where nspname = $1::text
union all
select r.name, c.relname::text, has_table_privilege(c.oid, r.name)
from pg_class c join pg_namespace n on n.oid = c.relnamespace, unnest($2::text[]) as r(name)
where n.nspname = $1::text and c.relkind in ('r', 'p') and (c.relname <> 'schema_migrations' or r.name = 'select')
order by 2, 1`, [schema.replaceAll('"', ''), RIGHTS])
  if (!rows.some(({ right }) => right !== 'usage')) return undefined
  if (superuser) {
    return warning(
      CHECK, `the role ${role} is a superuser`, 'give the server a role of its own: docs/operations.md, "Roles"',
    )
  }
  const lacking = rows.filter(({ has }) => !has)
  if (lacking.length === 0) return ok(CHECK, `the role ${role} has the rights that the server needs`)
  const named = lacking.slice(0, NAMED).map(({ right, on }) => `${right} on ${on}`).join(', ')
  return failed(CHECK, `the role ${role} lacks ${lacking.length} rights: ` +
    `${named}${lacking.length > NAMED ? ', …' : ''}`,
    `run in the database: grant usage on schema ${schema} to ${quotedRole}; grant ${RIGHTS.join(', ')} on all tables ` +
      `in schema ${schema} to ${quotedRole};`)
}

/**
 * Whether the role may do what a start with missing migrations does.
 * @param makesExtension whether pgvector is not in the database yet
 */
export async function makingFinding ({ executor, schema }: OpenDatabase, makesExtension: boolean): Promise<Finding> {
  const { role, quotedRole, quotedDatabase, superuser } = await roleOf({ executor, schema })
  if (superuser) {
    return warning(
      CHECK, `the role ${role} is a superuser`, 'give the server a role of its own: docs/operations.md, "Roles"',
    )
  }
  const [may] = await executor.read<{ schema: boolean, tables: boolean, extension: boolean }>(`
select case when to_regnamespace(quote_ident($1::text)) is null
    then has_database_privilege(current_database(), 'create')
    else has_schema_privilege($1::text, 'create') end as schema,
  not exists (select from pg_tables where schemaname = $1::text and not pg_has_role(tableowner, 'usage')) as tables,
  coalesce((select trusted and has_database_privilege(current_database(), 'create')
    from pg_available_extension_versions v
    join pg_available_extensions e on e.name = v.name and e.default_version = v.version
    where e.name = 'vector'), false) as extension`,
  [schema.replaceAll('"', '')])
  const instead = 'or run `memory-gateway migrate` with the URI of a role that may in MIGRATE_DATABASE_URL'
  if (may?.schema !== true) {
    return failed(
      CHECK, `the role ${role} may not create the tables`,
      `run in the database: grant create on database ${quotedDatabase} to ${quotedRole}; ${instead}`,
    )
  }
  if (!may.tables) {
    return failed(CHECK, `the role ${role} does not own the tables that migrations change`, instead.slice('or '.length))
  }
  if (makesExtension && !may.extension) {
    return failed(
      CHECK, `the role ${role} may not add pgvector to the database`,
      'run as a superuser in the database: create extension vector with schema public;',
    )
  }
  return ok(CHECK, `the role ${role} has the rights that the server needs at start`)
}
