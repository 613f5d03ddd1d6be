import { type BankKey, bankKeyString, keysOfTenant, identityOf } from '../../access/context.js'
import { readTrust } from '../../access/trust.js'
import { DAY_MS } from '../../base/days.js'
import { mapGivingWay } from '../../base/event-loop.js'
import { MAX_COUNTED_VALUES } from '../most-frequent.js'
import {
  type BankStatistics, type BankSummary, type ChangedMemory, type ConversationSummary, type DayCounts, type DayRange,
  type EmbeddingSpace, IDEMPOTENCY_LIFETIME_MS, type IdempotencyRecord, type ListBanksRequest,
  type ListConversationsRequest, type ListFilters, type ListRequest, type Memory, type Neighbourhood,
  type NeighboursRequest, type Part, partsOf, type Scan, type StoredMemory, type Unembedded, type Version,
} from '../vector-store.js'
import { SqlError, type Executor, type Queries } from './executor.js'
import { filteredRead, lastsAt, liveAt, Parameters, type Statement, suffixOf } from './fragments.js'
import { type ExistingRow, findExisting, hasExpired } from './insertion.js'
import {
  bankParameters, type BankRow, type MemoryRow, OF_PAST, READ_COLUMNS, READ_PAST_COLUMNS, readColumns, toBankKey,
  toMemory,
} from './rows.js'

/** About how many bytes a memory has. PostgreSQL knows the sizes without reading the texts. */
const SIZE = 'octet_length(m.text) + pg_column_size(m.metadata) + pg_column_size(m.tags)'
/** Maximum bytes of texts of a page of memories that wait for their vectors; the row that exceeds it is its last. */
const STATEMENT_BYTES = 256 * 1024

/**
 * A page of a bank, newest first unless the request specifies otherwise.
 * @returns undefined when no memory can pass the filters
 */
function listStatement (
  schema: string, bank: BankKey, { now, limit, filters, order = 'newest', offset = 0, after }: ListRequest,
): Statement | undefined {
  const read = filteredRead(schema, bank, filters, now)
  if (read === undefined) return undefined
  const { parameters, instant, conditionsOf } = read
  const [comparison, direction] = order === 'newest' ? ['<', ' desc'] : ['>', '']
  const place = after &&
    `(${parameters.bind(after.retainedAt)}::float8::bigint, ${parameters.bind(after.memoryId)}::text::uuid)`
  const first = (part: Part, count: number, skipped = 0) => {
    const id = part === 'past' ? OF_PAST.memory_id : 'm.memory_id'
    const afterCursor = place === undefined ? '' : `and (m.retained_at, ${id}) ${comparison} ${place}`
    return `select ${readColumns(part)} from ${schema}.memories${suffixOf(part)} m
where m.bank_key = $1
  and ${liveAt('m', instant)}${conditionsOf(part)} ${afterCursor}
order by m.retained_at${direction}, ${id}${direction} limit ${parameters.bind(count)}::int` +
      (skipped === 0 ? '' : ` offset ${parameters.bind(skipped)}::int`)
  }
  const [part, ...others] = partsOf(filters)
  if (others.length === 0) return { text: first(part!, limit, offset), values: parameters.values }
  // One statement, between whose parts no memory moves. The text of an id has the order of the id.
  return {
    text: `select l.* from (
(${[part!, ...others].map((each) => first(each, limit + offset)).join(')\nunion all\n(')})
) l order by l.retained_at${direction}, l.memory_id collate "C"${direction}
limit ${parameters.bind(limit)}::int offset ${parameters.bind(offset)}::int`,
    values: parameters.values,
  }
}

/** @returns undefined when no memory can pass the filters */
export function countStatement (
  schema: string, bank: BankKey, { now, filters, limit }: { now: number, filters: ListFilters, limit: number },
): Statement | undefined {
  const read = filteredRead(schema, bank, filters, now)
  if (read === undefined) return undefined
  const { parameters, instant, conditionsOf } = read
  const rows = partsOf(filters).map((part) => `select 1 from ${schema}.memories${suffixOf(part)} m
  where m.bank_key = $1 and ${liveAt('m', instant)}${conditionsOf(part)}`)
  return {
    text: `select count(*)::int as memories from (
  ${rows.join('\n  union all\n  ')}
  limit ${parameters.bind(limit)}::int
) c`,
    values: parameters.values,
  }
}

/**
 * Banks with their counts. The only statement of a request on more than one bank. The banks of a tenant are a range of
 * the key.
 */
function listBanksStatement (
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
  // A bank of which nothing is current any more still has its past.
  return {
    text: `select b.bank_key, sum(b.memories)::int as memories, max(b.last_retained_at) as last_retained_at from (
  select m.bank_key, count(*) as memories, max(m.retained_at)::float8 as last_retained_at
  from ${schema}.memories m where ${conditions.join(' and ')} group by m.bank_key
  union all
  select m.bank_key, 0, null from ${schema}.memories_past m where ${conditions.join(' and ')}
    and m.version_of is null group by m.bank_key
) b
group by b.bank_key order by b.bank_key limit ${parameters.bind(Number.isFinite(limit) ? limit : null)}::int`,
    values: parameters.values,
  }
}

/**
 * Memories of all banks that wait for vectors of the space, in the order of the partial index on such memories. A bank
 * with vectors of another model does not wait for any. The page ends with the memory that reaches STATEMENT_BYTES.
 */
function unembeddedStatement (
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
    select m.*, ${SIZE} as size
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

/** The most frequent values of a column as a JSON array of pairs, as `mostFrequent` has them. */
function mostFrequent (column: string, rows: string): string {
  return `(select coalesce(json_agg(json_build_array(t.value, t.uses)), '[]')::text
   from (
     select ${column} as value, count(*)::int as uses from ${rows}
     group by 1 order by uses desc, ${column} collate "C" limit ${MAX_COUNTED_VALUES}
   ) t)`
}

/** $1 bank, $2 now. Both reads of `live` are from its copy, which has no texts. */
function statisticsStatement (schema: string): string {
  return `with live as materialized (
  select cardinality(m.passage_starts) as passages, m.embedded, m.tokens, m.retained_at, m.occurred_at, m.tags,
    m.speaker
  from ${schema}.memories m where m.bank_key = $1 and ${liveAt('m', '$2::float8::bigint')}
)
select count(*)::int as memories, coalesce(sum(passages), 0)::int as passages,
  (count(*) filter (where not embedded))::int as unembedded, coalesce(sum(tokens), 0)::float8 as tokens,
  min(retained_at)::float8 as first_retained_at, max(retained_at)::float8 as last_retained_at,
  min(occurred_at)::float8 as first_occurred_at, max(occurred_at)::float8 as last_occurred_at,
  ${mostFrequent('tag', 'live, unnest(tags) as tag')} as tags,
  ${mostFrequent('speaker', 'live where speaker is not null')} as speakers
from live`
}

interface VersionRow extends MemoryRow {
  ended_at: number | null
  redacted: boolean
}

function toVersion (row: VersionRow): Version {
  return { ...toMemory(row), endedAt: row.ended_at, redacted: row.redacted }
}

interface UnembeddedRow extends MemoryRow, BankRow {
  fingerprint: string
  passage_starts: number[]
  passage_ends: number[]
}

interface NeighbourRow extends MemoryRow {
  side: number
  position: number
}

interface StatisticsRow {
  memories: number
  passages: number
  unembedded: number
  tokens: number
  first_retained_at: number | null
  last_retained_at: number | null
  first_occurred_at: number | null
  last_occurred_at: number | null
  tags: string
  speakers: string
}

/**
 * $1 bank, $2 id, $3 now, $4 and $5 maximum number of neighbours before and after. Returns the memory and
 * its neighbours with their `position` and their `side`: -1 before, 0 the memory, 1 after. Each side is an ordered scan
 * of the index of documents.
 */
function neighboursStatement (schema: string): string {
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

/** Reads memories and statistics of banks. Its methods are those of VectorStore, which inherits them. */
export class SqlReader {
  readonly #executor: Executor
  readonly #schema: string

  constructor (executor: Executor, schema: string) {
    this.#executor = executor
    this.#schema = schema
  }

  async findIdempotencyRecord (
    bank: BankKey, key: string, now: number,
  ): Promise<IdempotencyRecord | undefined> {
    const [row] = await this.#executor.read<{ request_fingerprint: string, answer: string }>(
      `select k.request_fingerprint, k.answer from ${this.#schema}.idempotency_keys k
where k.bank_key = $1 and k.key = $2 and k.kept_at > $3::float8::bigint`,
      [...bankParameters(bank), key, now - IDEMPOTENCY_LIFETIME_MS],
    )
    return row === undefined ? undefined : { requestFingerprint: row.request_fingerprint, text: row.answer }
  }

  async get (bank: BankKey, memoryId: string, now: number): Promise<Memory | undefined> {
    // One statement, between whose parts no memory moves.
    const last = (part: Part) => `select ${readColumns(part)} from ${this.#schema}.memories${suffixOf(part)} m
where m.bank_key = $1 and m.memory_id = $2::text::uuid and ${liveAt('m', '$3::float8::bigint')}`
    const [row] = await this.#executor.read<MemoryRow>(
      `${last('current')}\nunion all\n${last('past')} and m.version_of is null`,
      [...bankParameters(bank), memoryId, now],
    )
    return row === undefined ? undefined : toMemory(row)
  }

  async versions (bank: BankKey, memoryId: string, now: number): Promise<Version[]> {
    const live = liveAt('m', '$3::float8::bigint')
    const last = (part: Part) => `select ${readColumns(part)}, null::float8 as ended_at, false as redacted
from ${this.#schema}.memories${suffixOf(part)} m
where m.bank_key = $1 and m.memory_id = $2::text::uuid and ${live}
${part === 'past' ? 'and m.version_of is null' : ''}`
    const rows = await this.#executor.read<VersionRow>(`with last as (
${last('current')}
union all
${last('past')}
)
select l.* from last l
union all
select ${READ_PAST_COLUMNS}, m.ended_at::float8 as ended_at, m.redacted from ${this.#schema}.memories_past m
where m.bank_key = $1 and m.version_of = $2::text::uuid and exists (select 1 from last)`,
    [...bankParameters(bank), memoryId, now])
    return (await mapGivingWay(rows, toVersion)).sort((a, b) => b.version - a.version)
  }

  async changedAfter (
    bank: BankKey, { instant, now, limit }: { instant: number, now: number, limit: number },
  ): Promise<ChangedMemory[]> {
    const open = (part: Part) => `select ${readColumns(part)}
  from ${this.#schema}.memories${suffixOf(part)} m where m.bank_key = $1 and m.changed_at > $2::float8::bigint
    and ${liveAt('m', '$3::float8::bigint')} ${part === 'past' ? 'and m.version_of is null' : ''}`
    const rows = await this.#executor.read<MemoryRow>(`select c.* from (
${open('current')}
union all
${open('past')}
) c order by c.memory_id limit $4::int`, [...bankParameters(bank), instant, now, limit])
    const then = await this.#executor.read<VersionRow>(`select ${READ_PAST_COLUMNS}, m.ended_at::float8 as ended_at,
  m.redacted from ${this.#schema}.memories_past m
where m.bank_key = $1 and m.version_of = any($3::text[]::uuid[]) and m.changed_at <= $2::float8::bigint
  and m.ended_at > $2::float8::bigint`, [...bankParameters(bank), instant, rows.map(({ memory_id: id }) => id)])
    const versions = new Map((await mapGivingWay(then, toVersion)).map((version) => [version.memoryId, version]))
    return await mapGivingWay(rows, (row) => ({ memory: toMemory(row), then: versions.get(row.memory_id) }))
  }

  async countRemovedAfter (bank: BankKey, instant: number): Promise<number> {
    const [row] = await this.#executor.read<{ memories: number }>(`
select coalesce(sum(r.memories), 0)::int as memories from ${this.#schema}.removed_memories r
where r.bank_key = $1 and r.removed_at > $2::float8::bigint and r.retained_at <= $2::float8::bigint`,
    [...bankParameters(bank), instant])
    return row!.memories
  }

  async findRepeated (bank: BankKey, fingerprint: string, now: number): Promise<StoredMemory | undefined> {
    const values = [...bankParameters(bank), [], [fingerprint]]
    const [row] = await this.#executor.read<ExistingRow>(findExisting(this.#schema), values)
    if (row === undefined || hasExpired(row, now)) return undefined
    return { memoryId: row.memory_id, passageCount: row.passages, trust: readTrust(row.trust) }
  }

  async list (bank: BankKey, request: ListRequest): Promise<Memory[]> {
    const statement = listStatement(this.#schema, bank, request)
    if (statement === undefined) return []
    return await mapGivingWay(await this.#executor.read<MemoryRow>(statement.text, statement.values), toMemory)
  }

  async countMemories (
    bank: BankKey, request: { now: number, filters: ListFilters, limit: number },
  ): Promise<number> {
    const statement = countStatement(this.#schema, bank, request)
    if (statement === undefined) return 0
    return (await this.#executor.read<{ memories: number }>(statement.text, statement.values))[0]!.memories
  }

  async neighbours (
    bank: BankKey, memoryId: string, { now, before, after }: NeighboursRequest,
  ): Promise<Neighbourhood | undefined> {
    const values = [...bankParameters(bank), memoryId, now, before, after]
    const rows = await this.#executor.read<NeighbourRow>(neighboursStatement(this.#schema), values)
    rows.sort((a, b) => a.position - b.position)
    const onSide = (side: number) => rows.filter((row) => row.side === side).map(toMemory)
    const [memory] = onSide(0)
    if (memory !== undefined) return { memory, before: onSide(-1), after: onSide(1) }
    // What is past has no place in its document any more.
    const past = await this.get(bank, memoryId, now)
    return past && { memory: past, before: [], after: [] }
  }

  /** `listUnembedded` of VectorStore, for the configured space. */
  async unembeddedOf (
    space: EmbeddingSpace, request: { now: number, limit: number, after?: BankKey & { memoryId: string } },
  ): Promise<Unembedded[]> {
    const { text, values } = unembeddedStatement(this.#schema, space, request)
    const rows = await this.#executor.read<UnembeddedRow>(text, values)
    return rows.map((row) => ({
      bank: toBankKey(row),
      memory: toMemory(row),
      fingerprint: row.fingerprint,
      passages: row.passage_starts.map((start, ordinal) => ({ start, end: row.passage_ends[ordinal]! })),
    }))
  }

  async listBanks (request: ListBanksRequest): Promise<BankSummary[]> {
    const { text, values } = listBanksStatement(this.#schema, request)
    const rows = await this.#executor.read<BankRow & { memories: number, last_retained_at: number }>(text, values)
    return rows.map((row) => ({ ...toBankKey(row), memoryCount: row.memories, lastRetainedAt: row.last_retained_at }))
  }

  async statistics (bank: BankKey, now: number): Promise<BankStatistics> {
    const values = [...bankParameters(bank), now]
    const [row] = await this.#executor.read<StatisticsRow>(statisticsStatement(this.#schema), values)
    return {
      ...identityOf(bank),
      memoryCount: row!.memories,
      passageCount: row!.passages,
      unembeddedCount: row!.unembedded,
      tokens: row!.tokens,
      tagCounts: new Map(JSON.parse(row!.tags) as Array<[string, number]>),
      speakerCounts: new Map(JSON.parse(row!.speakers) as Array<[string, number]>),
      firstRetainedAt: row!.first_retained_at,
      lastRetainedAt: row!.last_retained_at,
      firstOccurredAt: row!.first_occurred_at,
      lastOccurredAt: row!.last_occurred_at,
    }
  }

  async countByDay (bank: BankKey, { now, from, until }: DayRange): Promise<DayCounts> {
    const values = [...bankParameters(bank), now, from, until]
    // An index-only scan of `memories_in_order`. Earlier days are counted under the day before the first.
    const rows = await this.#executor.read<{ day: number, memories: number }>(`
select greatest(floor(m.retained_at::float8 / ${DAY_MS})::int, $3::int - 1) as day, count(*)::int as memories
from ${this.#schema}.memories m
where m.bank_key = $1
  and ${liveAt('m', '$2::float8::bigint')} and m.retained_at < ($4::int + 1)::bigint * ${DAY_MS}
group by 1`, values)
    const byDay = new Map(rows.map(({ day, memories }) => [day, memories]))
    const before = byDay.get(from - 1) ?? 0
    byDay.delete(from - 1)
    return { before, byDay }
  }

  async listConversations (
    bank: BankKey, { now, limit, after }: ListConversationsRequest,
  ): Promise<ConversationSummary[]> {
    const rows = await this.#executor.read<{ document_id: string, messages: number, last_retained_at: number }>(`
select m.document_id, count(*)::int as messages, max(m.retained_at)::float8 as last_retained_at
from ${this.#schema}.memories m
where m.bank_key = $1 and m.message is not null and m.document_id > $4 and ${liveAt('m', '$2::float8::bigint')}
group by m.document_id order by m.document_id limit $3::int`, [...bankParameters(bank), now, limit, after ?? ''])
    return rows.map((row) => ({
      conversationId: row.document_id, messageCount: row.messages, lastRetainedAt: row.last_retained_at,
    }))
  }
}

/** Maximum number of memories of the first page, and of any page. */
const FIRST_ROWS = 100
const MAX_ROWS = 1000
/** Size of a page in bytes; the memory that reaches it is its last. */
const PAGE_BYTES = 1024 * 1024
/** How long a reader may leave a snapshot open without reading, in milliseconds: less than the database allows. */
const IDLE_MS = 30_000

interface ScanRow extends MemoryRow {
  /** Bytes of the memory, as the statement counts them toward the page. */
  size: number
}

interface ScanOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  bank: BankKey
  now: number
  /** Whether what is past follows, as Versions. */
  isWhole: boolean
  signal: AbortSignal | undefined
  /** Bytes that are read before the scan is returned: a bank that is not larger holds no connection for its reader. */
  readAheadBytes: number
  /** Default: IDLE_MS. */
  idleMs?: number
  /** Called when the snapshot is closed, at least once. */
  onEnd: () => void
}

/**
 * Reads a bank in one snapshot, a transaction that is read-only: first `readAheadBytes`, then a page of about a
 * megabyte when the reader has taken the one before. A reader that takes none for `idleMs` loses the rest.
 */
export async function openScan (
  { executor, schema, bank, now, isWhole, signal, readAheadBytes, idleMs = IDLE_MS, onEnd }: ScanOptions,
): Promise<Scan> {
  const { tx, finish } = await beginSnapshot(executor, signal).catch((error: unknown) => { onEnd(); throw error })
  const pages = scanParts(tx, { schema, bank, now, isWhole, signal })
  const ahead: Array<Array<Memory | Version>> = []
  let idle: NodeJS.Timeout | undefined
  let isExpired = false
  const end = () => {
    clearTimeout(idle)
    finish()
    onEnd()
  }
  const waitForReader = () => {
    idle = setTimeout(() => {
      isExpired = true
      end()
    }, idleMs).unref()
  }
  async function * read (): AsyncGenerator<Memory | Version, undefined> {
    try {
      for (let page = ahead.shift(); page !== undefined; page = ahead.shift()) yield * page
      for (;;) {
        clearTimeout(idle)
        if (isExpired) throw new SqlError('timeout', `The reader of an export has read nothing for ${idleMs} ms`)
        const { value, done } = await pages.next()
        if (done === true) return undefined
        waitForReader()
        yield * value.memories
      }
    } finally {
      end()
    }
  }
  try {
    const instant = '$2::float8::bigint'
    const rows = (part: Part, condition: string) => `(select count(*) from ${schema}.memories${suffixOf(part)} m
  where m.bank_key = $1 and ${liveAt('m', instant)}${condition})`
    const past = isWhole ? ` + ${rows('past', ` and ${lastsAt(schema, instant)}`)}` : ''
    const [counted] = await tx.query<{ count: number }>(
      `select (${rows('current', '')}${past})::int as count`, [...bankParameters(bank), now],
    )
    for (let bytes = 0; bytes < readAheadBytes;) {
      const { value, done } = await pages.next()
      if (done === true) break
      ahead.push(value.memories)
      bytes += value.bytes
      if (value.isLast) end()
      else if (bytes >= readAheadBytes) waitForReader()
    }
    const memories = read()
    // A generator that has not begun ends without its `finally`.
    const stop = async () => { end(); return await memories.return(undefined) }
    return {
      count: counted!.count,
      memories: {
        [Symbol.asyncIterator]: () => ({ next: async () => await memories.next(), return: stop }), return: stop,
      },
    }
  } catch (error) {
    end()
    throw error
  }
}

/** A transaction that lasts until `finish` is called. */
async function beginSnapshot (
  executor: Executor, signal: AbortSignal | undefined,
): Promise<{ tx: Queries, finish: () => void }> {
  let finish!: () => void
  const finished = new Promise<void>((resolve) => { finish = resolve })
  return await new Promise((resolve, reject) => {
    executor.transaction(async (tx) => {
      resolve({ tx, finish })
      await finished
    }, { snapshot: true, bulk: true, signal }).catch(reject)
  })
}

interface ScanPage {
  memories: Array<Memory | Version>
  bytes: number
  isLast: boolean
}

/**
 * The memories of a bank, oldest first. Of a whole bank those that are superseded or retired follow, and each memory
 * has its earlier versions after it.
 */
async function * scanParts (
  tx: Queries, { isWhole, ...options }: Pick<ScanOptions, 'schema' | 'bank' | 'now' | 'isWhole' | 'signal'>,
): AsyncGenerator<ScanPage, undefined> {
  const withEarlier = async (page: ScanPage): Promise<ScanPage> => {
    const earlier = await earlierVersions(tx, options, page.memories.map(({ memoryId }) => memoryId))
    return { ...page, memories: page.memories.flatMap((memory) => [memory, ...earlier.get(memory.memoryId) ?? []]) }
  }
  for await (const page of scanPages(tx, 'current', options)) {
    yield isWhole ? { ...await withEarlier(page), isLast: false } : page
  }
  if (!isWhole) return undefined
  for await (const page of scanPages(tx, 'past', options)) yield await withEarlier(page)
  return undefined
}

/** The versions before the last ones of memories, the latest first, by the ids of the memories. */
async function earlierVersions (
  tx: Queries, { schema, bank }: Pick<ScanOptions, 'schema' | 'bank'>, memoryIds: readonly string[],
): Promise<Map<string, Version[]>> {
  const rows = await tx.query<VersionRow>(`select ${READ_PAST_COLUMNS}, m.ended_at::float8 as ended_at, m.redacted
from ${schema}.memories_past m where m.bank_key = $1 and m.version_of = any($2::text[]::uuid[])
order by m.version desc`, [...bankParameters(bank), memoryIds])
  const found = new Map<string, Version[]>()
  for (const version of await mapGivingWay(rows, toVersion)) {
    const others = found.get(version.memoryId)
    if (others === undefined) found.set(version.memoryId, [version])
    else others.push(version)
  }
  return found
}

/** Last versions of a part. */
async function * scanPages (
  tx: Queries, part: Part, { schema, bank, now, signal }: Pick<ScanOptions, 'schema' | 'bank' | 'now' | 'signal'>,
): AsyncGenerator<ScanPage, undefined> {
  const statement = `select ${readColumns(part)}, m.size::float8 as size from (
  select o.*, sum(o.size) over (order by o.retained_at, o.memory_id rows between unbounded preceding and current row) -
    o.size as bytes_before from (
    select m.*, ${SIZE} as size
      from ${schema}.memories${suffixOf(part)} m
    where m.bank_key = $1 and ${liveAt('m', '$2::float8::bigint')} ${part === 'past' ? 'and m.version_of is null' : ''}
      and ($4::float8 is null or (m.retained_at, m.memory_id) > ($4::float8::bigint, $5::text::uuid))
    order by m.retained_at, m.memory_id limit $3::int
  ) o
) m
where m.bytes_before < $6::float8 order by m.retained_at, m.memory_id`
  let limit = FIRST_ROWS
  let last: ScanRow | undefined
  for (;;) {
    signal?.throwIfAborted()
    const rows: ScanRow[] = await tx.query<ScanRow>(statement, [
      ...bankParameters(bank), now, limit, last?.retained_at ?? null, last?.memory_id ?? null, PAGE_BYTES,
    ])
    const bytes = rows.reduce((sum, { size }) => sum + size, 0)
    const isLast = rows.length < limit && bytes < PAGE_BYTES
    yield { memories: await mapGivingWay(rows, toMemory), bytes, isLast }
    if (isLast) return undefined
    last = rows.at(-1)
    // Twice the number that fits, estimated from this page: rows beyond the end of a page are read in vain.
    limit = Math.min(MAX_ROWS, Math.max(1, Math.ceil(2 * PAGE_BYTES * rows.length / Math.max(1, bytes))))
  }
}
