import type { BankKey } from '../../identity/context.js'
import type { EmbeddingSpace, ListBanksRequest, ListRequest } from '../vector-store.js'
import { firstRows } from './bounded-rows.js'
import { filterConditions, memoryColumns, Parameters, type Statement } from './fragments.js'
import { bankParameters } from './rows.js'

/**
 * A page of a bank, newest first.
 * @param bytes at which the answer ends, before the page does; its rows are then as those of firstRows()
 * @returns undefined when no memory can pass the filters
 */
export function listStatement (
  schema: string, bank: BankKey, { now, limit, filters, after }: ListRequest, bytes?: number,
): Statement | undefined {
  const parameters = new Parameters()
  for (const value of bankParameters(bank)) parameters.bind(value)
  const instant = `${parameters.bind(now)}::float8::bigint`
  const conditions = filterConditions(filters, parameters)
  if (conditions === undefined) return undefined
  const behind = after === undefined
    ? ''
    : `and (m.retained_at, m.memory_id) < (${parameters.bind(after.retainedAt)}::float8::bigint, ${parameters.bind(after.memoryId)}::text::uuid)`
  const page = `select ${memoryColumns('m')} from ${schema}.memories m
where m.tenant_id = $1 and m.bank_id = $2 and (m.expires_at is null or m.expires_at > ${instant})${conditions} ${behind}
order by m.retained_at desc, m.memory_id desc limit ${parameters.bind(limit)}::int`
  return {
    // Ids as texts are in the order of ids where no rule of a language orders them.
    text: bytes === undefined ? page : firstRows(page, `${parameters.bind(bytes)}::float8`, 'c.retained_at desc, c.memory_id collate "C" desc'),
    values: parameters.values,
  }
}

/**
 * Banks with their counts. The one question of a request that is about more than one bank: it walks the index by tenant
 * and bank.
 */
export function listBanksStatement (
  schema: string, { now, tenantId, bankId, limit, after }: ListBanksRequest,
): Statement {
  const parameters = new Parameters()
  const conditions = [`(m.expires_at is null or m.expires_at > ${parameters.bind(now)}::float8::bigint)`]
  if (tenantId !== undefined) conditions.push(`m.tenant_id = ${parameters.bind(tenantId ?? '')}`)
  if (bankId !== undefined) conditions.push(`m.bank_id = ${parameters.bind(bankId)}`)
  if (after !== undefined) {
    const [tenant, bank] = bankParameters(after)
    conditions.push(`(m.tenant_id, m.bank_id) > (${parameters.bind(tenant)}, ${parameters.bind(bank)})`)
  }
  return {
    text: `select m.tenant_id, m.bank_id, count(*)::int as memories, max(m.retained_at)::float8 as last_retained_at
from ${schema}.memories m where ${conditions.join(' and ')}
group by m.tenant_id, m.bank_id order by m.tenant_id, m.bank_id limit ${parameters.bind(Number.isFinite(limit) ? limit : null)}::int`,
    values: parameters.values,
  }
}

/**
 * Memories of all banks that wait for vectors of the space, in the order of the index that has only such memories. A
 * bank whose vectors are another model's waits for none.
 */
export function unembeddedStatement (
  schema: string, { model, dimensions }: EmbeddingSpace,
  { now, limit, after }: { now: number, limit: number, after?: BankKey & { memoryId: string } },
): Statement {
  const parameters = new Parameters()
  const conditions = ['not m.embedded', `(m.expires_at is null or m.expires_at > ${parameters.bind(now)}::float8::bigint)`]
  if (after !== undefined) {
    const [tenant, bank] = bankParameters(after)
    conditions.push(`(m.tenant_id, m.bank_id, m.memory_id) > (${parameters.bind(tenant)}, ${parameters.bind(bank)}, ${parameters.bind(after.memoryId)}::text::uuid)`)
  }
  return {
    text: `select m.tenant_id, m.bank_id, ${memoryColumns('m')}, m.passage_starts, m.passage_ends
from ${schema}.memories m where ${conditions.join(' and ')} and not exists (
  select from ${schema}.embedding_spaces v where v.tenant_id = m.tenant_id and v.bank_id = m.bank_id
    and (v.model, v.dimensions) <> (${parameters.bind(model)}::text, ${parameters.bind(dimensions)}::int)
    and exists (select from ${schema}.embeddings e where e.tenant_id = v.tenant_id and e.bank_id = v.bank_id)
)
order by m.tenant_id, m.bank_id, m.memory_id limit ${parameters.bind(limit)}::int`,
    values: parameters.values,
  }
}
