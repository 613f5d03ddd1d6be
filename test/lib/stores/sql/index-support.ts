import type { Executor } from '../../../../lib/stores/sql/executor.js'
import { analyzeText } from '../../../../lib/text/analysis.js'

interface Standing {
  bank_key: string
  memory_id: string
  text: string
  expires_at: number | null
  passages_length: number
}

/**
 * What the index of all banks must hold by their memories, and what it holds: each entry is a line. Memories of one
 * passage only, whose text is what was analysed.
 */
export async function indexLines (
  database: Executor, schema: string,
): Promise<{ expected: string[], found: string[] }> {
  const memories = await database.read<Standing>(`select m.bank_key, m.memory_id::text as memory_id, m.text,
    m.expires_at::float8 as expires_at, m.passages_length
    from ${schema}.memories m`)
  const rows = await database.read<Omit<Standing, 'text'> & { term: string, weight: number }>(`select p.bank_key,
    p.memory_id::text as memory_id,
    p.term, p.weight::float8 as weight, p.length::float8 as passages_length,
      p.expires_at::float8 as expires_at from ${schema}.postings p`)
  const expected = memories.flatMap(({ text, ...memory }) => [...analyzeText(text).terms].map(([term, weight]) => line({
    ...memory, term, weight,
  })))
  return { expected: expected.sort(), found: rows.map(line).sort() }
}

function line ({
  bank_key: bank, memory_id: id, term, weight, passages_length: length, expires_at: expiresAt,
}: Omit<Standing, 'text'> & { term: string, weight: number }): string {
  return JSON.stringify([bank, id, term, weight, length, expiresAt])
}
