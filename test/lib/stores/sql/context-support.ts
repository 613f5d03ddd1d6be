import type { Executor } from '../../../../lib/stores/sql/executor.js'
import { withContext, type Lender } from '../../../../lib/stores/context.js'
import { analyzeText } from '../../../../lib/text/analysis.js'

interface Standing {
  tenant_id: string
  bank_id: string
  memory_id: string
  text: string
  document_id: string | null
  at: number
  passages: number
  expires_at: number | null
  question: boolean | null
  passages_length: number
}

/**
 * What the index of all banks must hold by their memories, and what it holds: each entry is a line. Memories of one passage only, whose text
 * is what was analysed.
 */
export async function contextLines (database: Executor, schema: string): Promise<{ expected: string[], found: string[] }> {
  const memories = await database.read<Standing>(`select m.tenant_id, m.bank_id, m.memory_id::text as memory_id, m.text, m.document_id,
    coalesce(m.occurred_at, m.retained_at)::float8 as at, cardinality(m.passage_starts) as passages, m.expires_at::float8 as expires_at, m.question, m.passages_length from ${schema}.memories m`)
  const rows = await database.read<{ tenant_id: string, bank_id: string, memory_id: string, term: string, weight: number, own: number, length: number, expires_at: number | null }>(
    `select p.tenant_id, p.bank_id, p.memory_id::text as memory_id, p.term, p.weight::float8 as weight, coalesce(p.own, p.weight)::float8 as own, p.length::float8 as length, p.expires_at::float8 as expires_at from ${schema}.postings p`)
  const expected = memories.flatMap((memory) => {
    const document = memory.document_id === null
      ? [memory]
      : memories.filter((other) => other.tenant_id === memory.tenant_id && other.bank_id === memory.bank_id && other.document_id === memory.document_id)
        .sort((a, b) => a.at - b.at || (a.memory_id < b.memory_id ? -1 : 1))
    const lenders = document.map(({ text, question }): Lender => ({ terms: analyzeText(text).terms, question: question === true }))
    const place = document.indexOf(memory)
    const context = withContext(lenders[place]!, lenders.slice(0, place).reverse(), lenders.slice(place + 1))
    return [...context].map(([term, { own, context }]) => line({ ...memory, term, weight: context, own, length: memory.passages_length }))
  })
  return { expected: expected.sort(), found: rows.map(line).sort() }
}

function line ({ tenant_id: tenant, bank_id: bank, memory_id: id, term, weight, own, length, expires_at: expiresAt }: {
  tenant_id: string, bank_id: string, memory_id: string, term: string, weight: number, own: number, length: number, expires_at: number | null
}): string {
  return JSON.stringify([tenant, bank, id, term, Math.fround(weight), Math.fround(own), length, expiresAt])
}
