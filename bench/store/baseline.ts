import { unitVectorText } from '../../lib/stores/sql/fragments.js'
import type { SearchRequest } from '../../lib/stores/vector-store.js'
import { summarize } from '../percentiles.js'
import { cpuEach, tally, timed } from './cell.js'
import { LIMIT, SPACE, type Bank } from './data.js'
import type { BenchDatabase } from './database.js'

/** Nearest neighbours that the index examines for this limit in the store's own statement. */
const EF_SEARCH = 2 * LIMIT

export interface BaselineResult {
  rank: 'ts_rank' | 'ts_rank_cd'
  searches: number
  p50_ms: number
  database_cpu_ms: number | null
}

/** A copy of the big bank's texts with a tsvector and a GIN index, as in a simple hybrid search. */
export async function buildBaseline (database: BenchDatabase, { key }: Bank): Promise<void> {
  const { schema } = database
  await database.run(`create table ${schema}.baseline (
  bank_id text not null, memory_id uuid not null, text text not null,
  words tsvector generated always as (to_tsvector('english', text)) stored, primary key (bank_id, memory_id))`)
  await database.run(`insert into ${schema}.baseline (bank_id, memory_id, text)
select m.bank_id, m.memory_id, m.text from ${schema}.memories m where m.bank_key = E'\\x1f' || $1`,
  [key.bankId])
  await database.run(`create index baseline_words on ${schema}.baseline using gin (words)`)
  await database.run(`vacuum (analyze) ${schema}.baseline`)
}

/**
 * Full text search for any of the words, ranked, beside the nearest vectors by the same index that the store uses, both
 * joined by their ranks (reciprocal rank fusion) in one statement: the alternative to the postings table.
 */
export async function measureBaseline (
  database: BenchDatabase, requests: readonly SearchRequest[], warmUp: number,
): Promise<BaselineResult[]> {
  await database.raw.unsafe(`set hnsw.ef_search = ${EF_SEARCH}`)
  // The index covers one bank, which the statement names by a parameter, so a generic plan could not use it.
  await database.raw.unsafe('set plan_cache_mode = force_custom_plan')
  const results: BaselineResult[] = []
  for (const rank of ['ts_rank', 'ts_rank_cd'] as const) {
    const text = statement(database.schema, rank)
    const search = async ({ banks, lexical, semantic }: SearchRequest) => {
      // Index terms are similar stems, so the baseline searches for the same words as the store.
      const words = lexical!.terms.join(' | ')
      await database.raw.unsafe(
        text, [banks[0]!.bankId, words, unitVectorText(semantic!.vector), SPACE.model], { prepare: true },
      )
    }
    for (const request of requests.slice(0, warmUp)) await search(request)
    const into = tally()
    await timed(database, 'raw', into, requests.slice(warmUp), 1, search)
    results.push({
      rank, searches: into.durations.length, p50_ms: summarize(into.durations).p50, database_cpu_ms: cpuEach(into),
    })
  }
  await database.usePlanSettingsOfStores()
  return results
}

function statement (schema: string, rank: BaselineResult['rank']): string {
  const type = `halfvec(${SPACE.dimensions})`
  return `with lexical as (
  select b.memory_id, row_number() over (order by ${rank}(b.words, q) desc) as position
  from ${schema}.baseline b, to_tsquery('english', $2) q where b.bank_id = $1 and b.words @@ q
  order by ${rank}(b.words, q) desc limit ${LIMIT}
),
nearest as (
  select e.memory_id, e.embedding::${type} <=> $3::text::${type} as distance
  from ${schema}.embeddings e where e.bank_key = E'\\x1f' || $1 and e.model = $4
  order by e.embedding::${type} <=> $3::text::${type} limit ${LIMIT}
),
semantic as (
  select n.memory_id, row_number() over (order by n.distance) as position from nearest n
)
select b.memory_id, b.text, coalesce(1.0 / (60 + l.position), 0) + coalesce(1.0 / (60 + s.position), 0) as score
from lexical l full join semantic s on s.memory_id = l.memory_id
join ${schema}.baseline b on b.bank_id = $1 and b.memory_id = coalesce(l.memory_id, s.memory_id)
order by score desc limit ${LIMIT}`
}
