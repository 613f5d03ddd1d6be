import { lockDocuments, mendAround } from './context-writes.js'
import { memberColumns } from './context-statements.js'
import type { Executor } from './executor.js'
import { fromMemberRow, memberText, type MemberRow } from './members.js'
import { retryUndone } from './retrying.js'
import { toBankKey } from './rows.js'
import { makeStatements, type Statements } from './statements.js'

export interface ContextIndexingOptions {
  executor: Executor
  /** Quoted. */
  schema: string
}

/** Documents that one look finds. */
const DOCUMENTS = 200
/** Memories that one transaction brings into context. */
const MEMORIES = 200

/**
 * Brings memories into the context of their documents that were stored without: before there was one, or by a server of the last
 * release. Each transaction leaves its document true, so that it may be interrupted, and run beside servers and beside itself.
 */
export class ContextIndexing {
  readonly #options: ContextIndexingOptions
  readonly #statements: Statements
  readonly #sql: ContextIndexingStatements

  constructor (options: ContextIndexingOptions) {
    this.#options = options
    this.#statements = makeStatements(options.schema)
    this.#sql = makeContextIndexingStatements(options.schema)
  }

  /** @returns how many memories were brought into context. @throws SqlError */
  async run ({ info = () => {}, stopped = () => false }: { info?: (message: string) => void, stopped?: () => boolean } = {}): Promise<number> {
    const { executor, schema } = this.#options
    let total = 0
    for (;;) {
      const documents = await executor.read<{ tenant_id: string, bank_id: string, document_id: string }>(`select distinct m.tenant_id, m.bank_id, m.document_id from ${schema}.memories m
where m.own_terms is null and m.document_id is not null and cardinality(m.passage_starts) = 1 limit ${DOCUMENTS}`)
      for (const document of documents) {
        let entered: number
        do {
          if (stopped()) return total
          entered = await retryUndone(async () => await this.#enter(document))
          total += entered
        } while (entered === MEMORIES)
      }
      if (documents.length > 0) info(`vector_store: ${total} memories were brought into the context of their documents`)
      if (documents.length < DOCUMENTS) return total
    }
  }

  async #enter ({ document_id: documentId, ...key }: { tenant_id: string, bank_id: string, document_id: string }): Promise<number> {
    const bank = toBankKey(key)
    return await this.#options.executor.transaction(async (tx) => {
      await lockDocuments(tx, this.#statements, bank, new Set([documentId]))
      const rows = await tx.query<MemberRow>(this.#sql.outside, [key.tenant_id, key.bank_id, documentId, MEMORIES])
      const entering = rows.map(fromMemberRow)
      await mendAround(tx, this.#statements, bank, { entering })
      await tx.query(this.#sql.enter, [
        key.tenant_id, key.bank_id, entering.map(({ memoryId }) => memoryId), entering.map(({ question }) => String(question)), entering.map(({ terms }) => memberText(terms)),
      ])
      return rows.length
    }, { bulk: true })
  }
}

type ContextIndexingStatements = Record<'outside' | 'enter', string>

/** $1 tenant and $2 bank in each. */
export function makeContextIndexingStatements (schema: string): ContextIndexingStatements {
  const ownTerms = `(
  select coalesce(json_agg(json_build_array(o.term, o.weight)), '[]')::text from unnest(m.terms) as t(term) cross join lateral (
    select p.term, p.weight from ${schema}.postings p where p.tenant_id = $1 and p.bank_id = $2 and p.term = t.term and p.memory_id = m.memory_id offset 0
  ) o
)`
  return {
    // $3 document, $4 how many: their own terms are what the index has of them.
    outside: `select ${memberColumns('m', 'm.text ~ \'[?？؟]\\W*$\'', ownTerms)}
from ${schema}.memories m
where m.tenant_id = $1 and m.bank_id = $2 and m.document_id = $3 and m.own_terms is null and cardinality(m.passage_starts) = 1
order by coalesce(m.occurred_at, m.retained_at), m.memory_id limit $4::int for update`,
    // $3 ids, $4 questions, $5 terms.
    enter: `update ${schema}.memories m set question = n.question, own_terms = n.own_terms
from unnest($3::text[]::uuid[], $4::text[]::boolean[], $5::text[]) as n(memory_id, question, own_terms)
where m.tenant_id = $1 and m.bank_id = $2 and m.memory_id = n.memory_id`,
  }
}
