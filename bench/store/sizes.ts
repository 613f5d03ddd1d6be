import type { BenchDatabase } from './database.js'

export interface Size {
  name: string
  bytes: number
}

/** Sizes of every table and index, largest first; that of a table includes values stored out of line. */
export async function measureSizes (database: BenchDatabase): Promise<Size[]> {
  return await database.run<Size>(`select relname as name,
  (case relkind when 'r' then pg_table_size(oid) else pg_relation_size(oid) end)::float8 as bytes
from pg_class where relnamespace = $1::regnamespace and relkind in ('r', 'i') and pg_relation_size(oid) > 1000000
order by 2 desc, 1`, [database.schema])
}
