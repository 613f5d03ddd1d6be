import { createHash } from 'node:crypto'
import type { BankKey } from '../../access/context.js'
import { isAtLeast, TRUST_LEVELS } from '../../access/trust.js'
import { foldCase, foldingTable } from '../../text/normal-form.js'
import type { ListFilters, Part, Passage } from '../vector-store.js'
import type { Param } from './executor.js'
import { bankParameters } from './rows.js'

/** A statement and its parameters. */
export interface Statement {
  text: string
  values: readonly Param[]
}

/** Collects the parameters of a statement while its text is built. */
export class Parameters {
  readonly values: Param[] = []

  /** @returns the placeholder of the value */
  bind (value: Param): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** Whether PostgreSQL can store a text: it rejects U+0000, and UTF-8 cannot encode lone surrogates. */
function isStorable (text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}

/** A condition: the row of the table with this alias has not expired at the instant, an expression of type bigint. */
export function liveAt (alias: string, instant: string): string {
  return `(${alias}.expires_at is null or ${alias}.expires_at > ${instant})`
}

/** How the names of the tables of a part end: `memories`, `postings` and `embeddings`. */
export function suffixOf (part: Part): '' | '_past' {
  return part === 'past' ? '_past' : ''
}

/** A condition on a row `m` of memories_past: an earlier version lasts as long as its memory. */
export function lastsAt (schema: string, instant: string): string {
  const ofMemory = (suffix: string) => `exists (select 1 from ${schema}.memories${suffix} o
    where o.bank_key = $1 and o.memory_id = m.version_of and ${liveAt('o', instant)})`
  return `(m.version_of is null or ${ofMemory('')} or ${ofMemory('_past')})`
}

/**
 * The conditions on rows `m` of memories_past. Without a time only last versions pass; an earlier one does only while
 * its memory has not expired.
 */
function pastConditions (
  schema: string, { state = 'current', asOf }: ListFilters, instant: string, parameters: Parameters,
): string[] {
  const last = 'm.version_of is null'
  return [
    'not m.redacted',
    ...asOf === undefined
      ? [last]
      : [
          `(m.ended_at is null or m.ended_at > ${parameters.bind(asOf)}::float8::bigint)`,
          lastsAt(schema, instant),
        ],
    ...state === 'all' ? [] : [`m.state ${state === 'current' ? '=' : '<>'} 'current'`],
  ]
}

/**
 * The filters as conditions on `m`, a row of memories.
 * @returns each with a leading `and`; '' when there are no filters; undefined when no memory can pass
 */
function filterConditions (filters: ListFilters, parameters: Parameters): string | undefined {
  const conditions: string[] = []
  const {
    tags, metadata, speakers, documentIds, occurredAfter, occurredBefore, asOf, minTrust = 'suspect',
    validAt,
  } = filters
  const { trust, undated, messages, retainedAfter, retainedBefore } = filters
  if (tags !== undefined) {
    const condition = tagFilter(tags, parameters)
    if (condition === undefined) return undefined
    conditions.push(condition)
  }
  if (metadata !== undefined && Object.keys(metadata).length > 0) {
    const texts = Object.entries(metadata).flat().filter((part) => typeof part === 'string')
    if (!texts.every(isStorable)) return undefined
    conditions.push(`m.metadata @> ${parameters.bind(JSON.stringify(metadata))}::text::jsonb`)
  }
  if (speakers !== undefined) {
    const condition = speakerFilter(speakers, parameters)
    if (condition === undefined) return undefined
    conditions.push(condition)
  }
  if (documentIds !== undefined) {
    const condition = documentFilter(documentIds, parameters)
    if (condition === undefined) return undefined
    conditions.push(condition)
  }
  if (occurredAfter !== undefined) conditions.push(`m.occurred_at >= ${parameters.bind(occurredAfter)}::float8::bigint`)
  if (occurredBefore !== undefined) {
    conditions.push(`m.occurred_at < ${parameters.bind(occurredBefore)}::float8::bigint`)
  }
  if (asOf !== undefined) conditions.push(`m.changed_at <= ${parameters.bind(asOf)}::float8::bigint`)
  if (validAt !== undefined) {
    const at = `${parameters.bind(validAt)}::float8::bigint`
    conditions.push(`(m.valid_from is null or m.valid_from <= ${at})
    and (m.valid_until is null or m.valid_until > ${at})`)
  }
  if (minTrust !== 'suspect') {
    conditions.push(
      `m.trust = any(${parameters.bind(TRUST_LEVELS.filter((level) => isAtLeast(level, minTrust)))}::text[])`,
    )
  }
  if (trust !== undefined) conditions.push(`m.trust = ${parameters.bind(trust)}`)
  if (undated !== undefined) conditions.push('m.occurred_at is null')
  if (messages !== undefined) conditions.push('m.message is not null')
  if (retainedAfter !== undefined) conditions.push(`m.retained_at >= ${parameters.bind(retainedAfter)}::float8::bigint`)
  if (retainedBefore !== undefined) {
    conditions.push(`m.retained_at < ${parameters.bind(retainedBefore)}::float8::bigint`)
  }
  return conditions.map((condition) => ` and ${condition}`).join('')
}

interface FilteredRead {
  parameters: Parameters
  /** `now` as SQL. */
  instant: string
  /** The filters as conditions on `m`, a row of the part; '' when there are none. */
  conditionsOf: (part: Part) => string
}

/**
 * The beginning of a read of one bank: its key as $1, then the time and the filters.
 * @returns undefined when no memory can pass the filters
 */
export function filteredRead (
  schema: string, bank: BankKey, filters: ListFilters, now: number,
): FilteredRead | undefined {
  const parameters = new Parameters()
  for (const value of bankParameters(bank)) parameters.bind(value)
  const instant = `${parameters.bind(now)}::float8::bigint`
  const conditions = filterConditions(filters, parameters)
  if (conditions === undefined) return undefined
  const conditionsOf = (part: Part) => {
    const ofPast = part === 'past' ? pastConditions(schema, filters, instant, parameters) : []
    return conditions + ofPast.map((condition) => ` and ${condition}`).join('')
  }
  return { parameters, instant, conditionsOf }
}

/** @returns undefined when no memory can pass */
function tagFilter (
  { values: tags, match }: NonNullable<ListFilters['tags']>, parameters: Parameters,
): string | undefined {
  const values = tags.filter(isStorable)
  const isPossible = match === 'any' ? values.length > 0 : values.length === tags.length
  return isPossible ? tagCondition(parameters.bind(values), match, values.length) : undefined
}

/** @returns undefined when no memory can pass */
function documentFilter (
  documentIds: NonNullable<ListFilters['documentIds']>, parameters: Parameters,
): string | undefined {
  const values = documentIds.filter((id) => id !== null).filter(isStorable)
  // The rows of one document are in order in its indexes, those of an array are not.
  const among = values.length === 0
    ? undefined
    : values.length === 1
      ? `m.document_id = ${parameters.bind(values[0]!)}::text`
      : `m.document_id = any(${parameters.bind(values)}::text[])`
  if (!documentIds.includes(null)) return among
  return among === undefined ? 'm.document_id is null' : `(m.document_id is null or ${among})`
}

/** @returns undefined when no memory can pass */
function speakerFilter (speakers: readonly string[], parameters: Parameters): string | undefined {
  const wanted = [...new Set(speakers.filter(isStorable).map(foldCase))]
  if (wanted.length === 0) return undefined
  const { from, to } = foldingTable(wanted)
  return `translate(m.speaker, ${parameters.bind(from)}, ${parameters.bind(to)}) = ` +
    `any(${parameters.bind(wanted)}::text[])`
}

/**
 * Up to so many tags are compared with each of the memory's, which takes less time than to look those up in a table of
 * them.
 */
const MAX_COMPARED_TAGS = 10

/**
 * A memory has any, or all, of the tags; one without tags never passes, not even `all` of an empty list.
 * @param count of the tags
 */
function tagCondition (placeholder: string, match: 'any' | 'all', count: number): string {
  if (match === 'all') return `m.tags @> ${placeholder}::text[] and m.tags <> '{}'`
  if (count <= MAX_COMPARED_TAGS) return `m.tags && ${placeholder}::text[]`
  // PostgreSQL compares each element of one array with each of the other. It makes the table of a subquery once, in
  // every kind of plan, and the form of the condition makes it use one.
  return `exists (select 1 from unnest(m.tags) as t(tag)
    where (t.tag in (select w.tag from unnest(${placeholder}::text[]) as w(tag))) is true)`
}

/**
 * $1 bank: locks the bank for one of the writes that exclude each other, until the end of the transaction. A statement
 * of its own, because a statement sees only what was committed before it began. A row that is there is locked and not
 * changed, so that those who wait for it come in their order.
 */
export function lockBank (schema: string): string {
  return `insert into ${schema}.bank_locks (bank_key) values ($1)
on conflict (bank_key) do update set bank_key = excluded.bank_key where false`
}

/** How the names of vector indexes begin. */
export const INDEX_PREFIX = 'embeddings_hnsw_'

/** Number of rows among which a bank's statistics are divided; each write updates one of them. */
export const STATISTICS_SHARDS = 8

/**
 * @param amounts the clauses of rows to add: bank, shard, memories, embedded memories, memories that expire, passages,
 * and the passages' total length
 */
export function countInto (schema: string, amounts: string): string {
  return `insert into ${schema}.bank_statistics as s (bank_key, shard, memories, embedded, expiring, passages, length)
${amounts}
on conflict (bank_key, shard) do update set memories = s.memories + excluded.memories,
  embedded = s.embedded + excluded.embedded, expiring = s.expiring + excluded.expiring,
  passages = s.passages + excluded.passages, length = s.length + excluded.length`
}

/**
 * Adds vectors to memories of the bank $1 whose rows are locked. $2 is the model, $3 its dimensions; for each vector,
 * the first placeholder is the memory's id, the next the ordinal, and the one after it the text.
 * @param locked a condition on the memories' ids
 */
export function insertVectors (schema: string, locked: string, first: number): string {
  return `insert into ${schema}.embeddings (bank_key, memory_id, ordinal, model, dimensions, expires_at, embedding)
select m.bank_key, n.memory_id, n.ordinal, $2::text, $3::int, m.expires_at, n.embedding::halfvec
from unnest($${first}::text[]::uuid[], $${first + 1}::text[]::smallint[], $${first + 2}::text[])
  as n(memory_id, ordinal, embedding)
join ${schema}.memories m on m.bank_key = $1 and m.memory_id = n.memory_id and m.memory_id ${locked}
on conflict (bank_key, memory_id, ordinal, model) do nothing`
}

/**
 * A vector scaled to unit length in pgvector's syntax, so that every component is within the range of half precision. A
 * zero vector is unchanged. Seven decimal places, because half precision has fewer than four digits.
 * @throws RangeError when a component is not finite, so that the vector has no direction
 */
export function unitVectorText (vector: Float32Array): string {
  let square = 0
  for (const value of vector) square += value * value
  if (!Number.isFinite(square)) throw new RangeError('An embedding must be of finite numbers')
  const scale = square === 0 ? 0 : 1e7 / Math.sqrt(square)
  let text = '['
  for (let index = 0; index < vector.length; index++) {
    // An integer with an exponent: printing it is several times faster than printing a fraction, and this runs for
    // every component of every vector.
    text += `${index === 0 ? '' : ','}${Math.round(vector[index]! * scale)}e-7`
  }
  return `${text}]`
}

/**
 * Maximum bytes of a term stored unchanged: an entry of a B-tree index is limited to a third of a page, and also
 * contains tenant and bank.
 */
const MAX_BYTES = 256

/** Separates terms in the text that an insert sends them in. */
const SEPARATOR = '\u001f'

/**
 * A term as stored in postings. A long one, as text without spaces produces, is replaced by its digest after `#`, which
 * no term contains; so is one with the separator. A query term with U+0000, which no stored text contains, becomes `#`,
 * which matches no memory.
 */
export function indexTerm (term: string): string {
  // A UTF-16 code unit is at most three bytes of UTF-8.
  const isLong = term.length * 3 > MAX_BYTES && Buffer.byteLength(term) > MAX_BYTES
  if (isLong || term.includes(SEPARATOR)) return `#${createHash('sha256').update(term).digest('hex')}`
  return term.includes('\u0000') ? '#' : term
}

/**
 * Terms as one text, which SQL reads with termsOf. It is shorter than an array of them in PostgreSQL's syntax within
 * another, whose quotes would be escaped.
 */
export function termsText (terms: Iterable<string>): string {
  return [...terms].join(SEPARATOR)
}

/** An SQL expression of the terms in a termsText. */
export function termsOf (text: string): string {
  return `string_to_array(${text}, chr(${SEPARATOR.charCodeAt(0)}))`
}

/**
 * A passage's terms as stored in the index: weights are 32-bit floats, and terms whose weight becomes 0 or infinite are
 * left out. Usually nothing changes, and no copy is made.
 */
export function indexTerms ({ terms }: Pick<Passage, 'terms'>): ReadonlyMap<string, number> {
  let same = true
  for (const [term, count] of terms) {
    same = count > 0 && count < Infinity && Math.fround(count) === count && indexTerm(term) === term
    if (!same) break
  }
  if (same) return terms
  const known = new Map<string, number>()
  for (const [term, count] of terms) {
    const weight = Math.fround(count)
    if (weight > 0 && weight < Infinity) known.set(indexTerm(term), weight)
  }
  return known
}
