import type { Executor } from '../../lib/stores/sql/executor.js'
import { pgliteExecutor, pgliteSettings, postgresExecutor, postgresSettings } from '../../lib/stores/sql/providers.js'

/** Statements that count inconsistencies: rows without a counterpart in another table, and wrong sums. */
const CHECKS: Record<string, string> = {
  ...partChecks('memories', ''),
  ...partChecks('past memories', '_past'),
  'banks whose counts are wrong': `select count(*)::int as count from (
  select bank_key, count(*) as memories, count(*) filter (where embedded) as embedded,
    sum(cardinality(passage_starts)) as passages, round(sum(passages_length)) as length
  from SCHEMA.memories group by bank_key
) m full join (
  select bank_key, sum(memories) as memories, sum(embedded) as embedded, sum(passages) as passages,
    round(sum(length)) as length
  from SCHEMA.bank_statistics group by bank_key
) s using (bank_key)
where (m.memories, m.embedded, m.passages, m.length) is distinct from (s.memories, s.embedded, s.passages, s.length)`,
  'banks whose configuration is not the last of its history': `select count(*)::int as count from (
  select distinct on (bank_key) bank_key, revision, document from SCHEMA.bank_configuration_history
    order by bank_key, revision desc
) h full join SCHEMA.bank_configurations c using (bank_key)
where (h.document is not null or c.document is not null) and (h.revision, h.document) is distinct
  from (c.revision, c.document)`,
}

/**
 * Checks the tables themselves after the gateway has stopped.
 * @param schema quoted
 * @returns the faults, in words
 */
export async function tableFaults (executor: Executor, schema: string): Promise<string[]> {
  const faults: string[] = []
  for (const [what, statement] of Object.entries(CHECKS)) {
    const [row] = await executor.read<{ count: number }>(statement.replaceAll('SCHEMA', schema))
    if (row!.count > 0) faults.push(`${row!.count} ${what}`)
  }
  return faults
}

/** A connection of the bench's own to a data directory that no gateway has open. */
export async function openDirectory (directory: string): Promise<Executor> {
  return await pgliteExecutor(
    pgliteSettings({ data_dir: directory, statement_timeout_ms: 300_000 }, { baseDirectory: process.cwd() }),
  )
}

export function openUrl (url: string, isPooler = false): Executor {
  return postgresExecutor(postgresSettings({ statement_timeout_ms: 300_000, transaction_pooler: isPooler }), url)
}

/** Of the tables of what is current, and of those of what is past. */
function partChecks (memories: string, suffix: '' | '_past'): Record<string, string> {
  return {
    [`${memories} without all of their postings`]: `select count(*)::int as count from SCHEMA.memories${suffix} m
left join (select bank_key, memory_id, count(distinct term) as terms
  from SCHEMA.postings${suffix} group by bank_key, memory_id) p
  using (bank_key, memory_id)
where cardinality(m.terms) <> coalesce(p.terms, 0)`,
    [`postings without ${memories}`]: `select count(*)::int as count from SCHEMA.postings${suffix} p
where not exists (select from SCHEMA.memories${suffix} m where m.bank_key = p.bank_key
  and m.memory_id = p.memory_id)`,
    [`${memories} without all of their vectors`]: `select count(*)::int as count from SCHEMA.memories${suffix} m
left join (select bank_key, memory_id, count(*) as vectors from SCHEMA.embeddings${suffix} group by bank_key,
  memory_id) e
  using (bank_key, memory_id)
where m.embedded and cardinality(m.passage_starts) <> coalesce(e.vectors, 0)`,
    [`vectors without ${memories}`]: `select count(*)::int as count from SCHEMA.embeddings${suffix} e
where not exists (select from SCHEMA.memories${suffix} m where m.bank_key = e.bank_key
  and m.memory_id = e.memory_id)`,
  }
}
