import type { BankKey } from '../../identity/context.js'
import type { EmbeddingSpace, LexicalRequest, SearchRequest } from '../vector-store.js'
import { filteredRead, liveAt, READ_COLUMNS, type Statement } from './fragments.js'
import { lexicalStrategy, matchingMemories } from './lexical-strategy.js'
import { GRID, type Shape, type Strategy } from './search-shape.js'
import { semanticStrategy, spaceCte, type Nearest } from './semantic-strategy.js'

interface SearchOptions {
  /** The quoted schema. */
  schema: string
  /** Required when the request has the semantic strategy. */
  space?: EmbeddingSpace | undefined
  /** The result of the bank's approximate index: without it the semantic strategy is exact. */
  nearest?: Nearest | undefined
}

/**
 * The search of one bank as one statement, with both strategies and all filters; a vector index is queried before. Its
 * rows are memories with `passage_starts`, `passage_ends`, `lexical_score` and `lexical_passages` (ordinals of the
 * best, followed by as many scores; null where there is only one, or where the memory is not among the best of the
 * strategy), the same for `semantic_…`, the scores of the memory by each requested strategy even if it is not among its
 * best (`by_words`, `by_own_words`, `by_meaning`), and `total`, equal on every row. With a budget they are CutRows.
 *
 * Tables are reached through `lateral (… offset 0)` where a key is known row by row: the planner then looks the key up
 * instead of joining by a scan of the whole bank, which the statistics of a new or fast-growing table would suggest.
 * @returns undefined when no memory can be found
 */
export function searchStatement (
  bank: BankKey, request: SearchRequest, { schema, space, nearest }: SearchOptions,
): Statement | undefined {
  const { lexical, semantic, limit, now } = request
  const words = lexical !== undefined && lexical.terms.length > 0
  if (!words && semantic === undefined) return undefined
  const read = filteredRead(bank, request.filters, now)
  if (read === undefined) return undefined
  const { parameters, instant, conditions: filters } = read
  const shape: Shape = {
    schema,
    parameters,
    filters,
    ofDocuments: request.filters.documentIds?.includes(null) === false,
    limit: `${parameters.bind(limit)}::int`,
    now: instant,
    unexpired: (alias) => liveAt(alias, instant),
  }

  const both = words && semantic !== undefined
  // The semantic strategy comes first: the lexical one also scores the memories that it found.
  const strategies: Strategy[] = []
  if (semantic !== undefined) {
    if (space === undefined) throw new Error('A semantic search needs an embedding space')
    strategies.push(semanticStrategy(shape, semantic.vector, space, nearest))
  }
  if (words) strategies.push(lexicalStrategy(shape, lexical, { limit, both }))
  const find = (name: Strategy['name']) => strategies.find((one) => one.name === name)
  const columns = (['lexical', 'semantic'] as const).map((name) => {
    const strategy = find(name)
    return strategy === undefined
      ? `null::float8 as ${name}_score, null::float8[] as ${name}_passages`
      : `${scoreOf(name)} as ${name}_score, case when ${name}.score is not null and cardinality(m.passage_starts) > ` +
        `1 then (${strategy.passages}) end as ${name}_passages`
  })
  const text = `with ${space === undefined || semantic === undefined
    ? ''
    : spaceCte(shape, space)}${strategies.map(({ parts }) => parts).join(',\n')}
select ${READ_COLUMNS}, m.passage_starts, m.passage_ends,
  ${columns.join(',\n  ')},
  ${scoreColumns(words, find('semantic')?.cosines)},
  (${totalOf(shape, words ? lexical : undefined, semantic === undefined ? undefined : space)})::int as total
from ${strategies.map(({ name }) => name).join(' full join ')}${both
  ? ' on semantic.memory_id = lexical.memory_id\nleft join also_lexical on also_lexical.memory_id = semantic.memory_id'
  : ''}
cross join lateral (
  select m.* from ${schema}.memories m where m.bank_key = $1
    and m.memory_id = ${both
      ? 'coalesce(lexical.memory_id, semantic.memory_id)'
      : `${strategies[0]!.name}.memory_id`} offset 0
) m`
  return { text, values: parameters.values }
}

/** The score by which a strategy found a memory, within 0–1: the lexical one is in multiples of 1 / GRID. */
function scoreOf (name: Strategy['name']): string {
  return name === 'lexical' ? `lexical.score::float8 / ${GRID}` : 'semantic.score'
}

function scoreColumns (words: boolean, cosines: string | undefined): string {
  const byWords = (column: string) => (
    words
      ? `coalesce(lexical.${column}${cosines === undefined ? '' : `, also_lexical.${column}`}, 0)::float8 / ${GRID}`
      : 'null::float8'
  )
  const meaning = cosines === undefined
    ? 'null::float8'
    : words
      ? `coalesce(semantic.score, case when (select is_configured_space from space)
        then (select max(s.score) from (${cosines}) s) end)`
      : 'semantic.score'
  return `${byWords('score')} as by_words, ${byWords('own')} as by_own_words, ${meaning} as by_meaning`
}

/**
 * Memories that a strategy finds, regardless of the limit: of those that pass the filters, the ones that match by words
 * and the ones with a vector.
 */
function totalOf (shape: Shape, lexical: LexicalRequest | undefined, space: EmbeddingSpace | undefined): string {
  const { schema, filters, unexpired, now } = shape
  const matching = lexical === undefined ? undefined : matchingMemories(shape, lexical)
  if (space === undefined) return `select count(*) from (${matching}) f`
  const embedded = '(select is_configured_space from space)'
  if (filters !== '') {
    const byWords = matching === undefined ? '' : `or m.memory_id in (${matching})`
    return `select count(*) from ${schema}.memories m
    where m.bank_key = $1
      and ${unexpired('m')}${filters} and ((m.embedded and ${embedded}) ${byWords})`
  }
  // The bank's statistics have the number of its embedded memories. Partial indexes list those that have expired, and
  // the memories without vectors, some of which match by words; the condition makes PostgreSQL use a hashed subplan.
  const expired = `select count(*) from ${schema}.memories m
    where m.bank_key = $1 and m.expires_at <= ${now} and m.embedded`
  const others = matching === undefined
    ? ''
    : ` + case when sum(s.embedded) < sum(s.memories) then (select count(*) from ${schema}.memories m
      where m.bank_key = $1 and not m.embedded
        and (m.memory_id in (${matching})) is true) else 0 end`
  return `select case when ${embedded}
    then sum(s.embedded) - case when sum(s.expiring) > 0 then (${expired}) else 0 end${others}
    else ${matching === undefined ? '0' : `(select count(*) from (${matching}) f)`} end
    from ${schema}.bank_statistics s where s.bank_key = $1`
}
