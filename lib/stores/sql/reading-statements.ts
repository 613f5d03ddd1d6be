import { bankKeyString, keysOfTenant, type BankKey } from '../../identity/context.js'
import type { EmbeddingSpace, ListBanksRequest, ListFilters, ListRequest } from '../vector-store.js'
import { filteredRead, liveAt, READ_COLUMNS, Parameters, type Statement } from './fragments.js'

/** Maximum bytes of texts of a page of memories that wait for their vectors; the row that exceeds it is its last. */
const STATEMENT_BYTES = 256 * 1024

/**
 * A page of a bank, newest first unless the request specifies otherwise.
 * @returns undefined when no memory can pass the filters
 */
export function listStatement (
  schema: string, bank: BankKey, { now, limit, filters, order = 'newest', offset = 0, after }: ListRequest,
): Statement | undefined {
  const read = filteredRead(bank, filters, now)
  if (read === undefined) return undefined
  const { parameters, instant, conditions } = read
  const afterCursor = after === undefined
    ? ''
    : `and (m.retained_at, m.memory_id) ${order === 'newest' ? '<' : '>'} ` +
      `(${parameters.bind(after.retainedAt)}::float8::bigint, ${parameters.bind(after.memoryId)}::text::uuid)`
  const direction = order === 'newest' ? ' desc' : ''
  const skipped = offset === 0 ? '' : ` offset ${parameters.bind(offset)}::int`
  return {
    text: `select ${READ_COLUMNS} from ${schema}.memories m
where m.bank_key = $1
  and ${liveAt('m', instant)}${conditions} ${afterCursor}
order by m.retained_at${direction}, m.memory_id${direction} limit ${parameters.bind(limit)}::int${skipped}`,
    values: parameters.values,
  }
}

/** @returns undefined when no memory can pass the filters */
export function countStatement (
  schema: string, bank: BankKey, { now, filters, limit }: { now: number, filters: ListFilters, limit: number },
): Statement | undefined {
  const read = filteredRead(bank, filters, now)
  if (read === undefined) return undefined
  const { parameters, instant, conditions } = read
  return {
    text: `select count(*)::int as memories from (
  select 1 from ${schema}.memories m
  where m.bank_key = $1 and ${liveAt('m', instant)}${conditions}
  limit ${parameters.bind(limit)}::int
) c`,
    values: parameters.values,
  }
}

/**
 * $1 bank, $2 id, $3 now, $4 and $5 maximum number of neighbours before and after. Returns the memory and
 * its neighbours with their `position` and their `side`: -1 before, 0 the memory, 1 after. Each side is an ordered scan
 * of the index of documents.
 */
export function neighboursStatement (schema: string): string {
  const live = (alias: string) => liveAt(alias, '$3::float8::bigint')
  const side = (alias: string, number: -1 | 1, limit: string) => {
    const direction = number === -1 ? ' desc' : ''
    return `(select ${alias}.memory_id, ${number} as side from ${schema}.memories ${alias}
    where ${alias}.bank_key = $1 and ${alias}.document_id = (select document_id from anchor)
      and (${alias}.place, ${alias}.memory_id) ${number === -1 ? '<' : '>'} ((select place from anchor),
        (select memory_id from anchor)) and ${live(alias)}
    order by ${alias}.place${direction}, ${alias}.memory_id${direction} limit ${limit}::int)`
  }
  return `with anchor as (
  select a.document_id, a.place, a.memory_id from ${schema}.memories a
  where a.bank_key = $1 and a.memory_id = $2::text::uuid and ${live('a')}
),
around as (
  select memory_id, 0 as side from anchor
  union all ${side('b', -1, '$4')}
  union all ${side('d', 1, '$5')}
)
select ${READ_COLUMNS}, r.side, row_number() over (order by m.place, m.memory_id)::int as position
from around r join ${schema}.memories m on m.bank_key = $1
  and m.memory_id = r.memory_id`
}

/**
 * Banks with their counts. The only statement of a request on more than one bank. The banks of a tenant are a range of
 * the key.
 */
export function listBanksStatement (
  schema: string, { now, tenantId, bankId, limit, after }: ListBanksRequest,
): Statement {
  const parameters = new Parameters()
  const conditions = [liveAt('m', `${parameters.bind(now)}::float8::bigint`)]
  if (tenantId !== undefined) {
    const { from, before } = keysOfTenant(tenantId)
    conditions.push(`m.bank_key >= ${parameters.bind(from)} and m.bank_key < ${parameters.bind(before)}`)
  }
  if (bankId !== undefined) conditions.push(`m.bank_id = ${parameters.bind(bankId)}`)
  if (after !== undefined) {
    conditions.push(`m.bank_key > ${parameters.bind(bankKeyString(after))}`)
  }
  return {
    text: `select m.bank_key, count(*)::int as memories, max(m.retained_at)::float8 as last_retained_at
from ${schema}.memories m where ${conditions.join(' and ')}
group by m.bank_key order by m.bank_key limit ${parameters.bind(Number.isFinite(limit) ? limit : null)}::int`,
    values: parameters.values,
  }
}

/**
 * Memories of all banks that wait for vectors of the space, in the order of the partial index on such memories. A bank
 * with vectors of another model does not wait for any. The page ends with the memory that reaches STATEMENT_BYTES.
 */
export function unembeddedStatement (
  schema: string, { model, dimensions }: EmbeddingSpace,
  { now, limit, after }: { now: number, limit: number, after?: BankKey & { memoryId: string } },
): Statement {
  const parameters = new Parameters()
  const conditions = ['not m.embedded', liveAt('m', `${parameters.bind(now)}::float8::bigint`)]
  if (after !== undefined) {
    conditions.push(`(m.bank_key, m.memory_id) > (${parameters.bind(bankKeyString(after))}, ` +
      `${parameters.bind(after.memoryId)}::text::uuid)`)
  }
  return {
    text: `select m.bank_key, ${READ_COLUMNS}, m.fingerprint, m.passage_starts, m.passage_ends from (
  select o.*, sum(o.size) over (order by o.bank_key, o.memory_id rows between unbounded preceding and
    current row) - o.size as bytes_before from (
    select m.*, octet_length(m.text) + pg_column_size(m.metadata) + pg_column_size(m.tags) as size
    from ${schema}.memories m where ${conditions.join(' and ')} and not exists (
      select 1 from ${schema}.embedding_spaces v where v.bank_key = m.bank_key
        and (v.model, v.dimensions) <> (${parameters.bind(model)}::text, ${parameters.bind(dimensions)}::int)
        and exists (select 1 from ${schema}.embeddings e where e.bank_key = v.bank_key)
    )
    order by m.bank_key, m.memory_id limit ${parameters.bind(limit)}::int
  ) o
) m
where m.bytes_before < ${STATEMENT_BYTES} order by m.bank_key, m.memory_id`,
    values: parameters.values,
  }
}
