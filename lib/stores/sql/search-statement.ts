import type { BankKey } from '../../identity/context.js'
import type { EmbeddingSpace, LexicalRequest, SearchRequest } from '../vector-store.js'
import { withoutLongColumns } from './bounded-rows.js'
import { filterConditions, memoryColumns, Parameters, type Statement } from './fragments.js'
import { lexicalStrategy, matchingMemories } from './lexical-strategy.js'
import { bankParameters } from './rows.js'
import { GRID, liveAt, type Shape, type Strategy } from './search-shape.js'
import { semanticStrategy, spaceCte, type Nearest } from './semantic-strategy.js'

export interface SearchOptions {
  /** The schema, quoted. */
  schema: string
  /** Needed when the request has the semantic strategy. */
  space?: EmbeddingSpace | undefined
  /** What the bank's approximate index has found: without it the semantic strategy is exact. */
  nearest?: Nearest | undefined
}

/** What the rows have beside the columns of memories. */
const OWN_COLUMNS = [
  'passage_starts', 'passage_ends', 'lexical_score', 'lexical_passages', 'semantic_score', 'semantic_passages', 'by_words', 'by_own_words', 'by_meaning', 'total',
]

/**
 * One bank's search as one statement, both strategies and every filter in it; what an index of its vectors finds was
 * asked before. Its rows are memories with `passage_starts`, `passage_ends`, `lexical_score` and `lexical_passages`
 * (ordinals of the best, then as many scores; null where there is only one, or where that strategy does not have the
 * memory among its best), the same for `semantic_…`, then what each strategy that was asked for says of the memory all
 * the same (`by_words`, `by_own_words`, `by_meaning`), and on every row `total`. With a budget they are
 * CutRows.
 *
 * Tables are reached through `lateral (… offset 0)` where a key is known row by row: the planner then looks the key up
 * and does not join by reading the whole bank, as it would by the statistics of a young or fast-growing table.
 * @returns undefined when nothing can be found
 */
export function searchStatement (
  bank: BankKey, request: SearchRequest, { schema, space, nearest }: SearchOptions,
): Statement | undefined {
  const { lexical, semantic, limit, now } = request
  const words = lexical !== undefined && lexical.terms.length > 0
  if (!words && semantic === undefined) return undefined
  const parameters = new Parameters()
  // $1 and $2 in every statement: the bank.
  for (const value of bankParameters(bank)) parameters.bind(value)
  const instant = `${parameters.bind(now)}::float8::bigint`
  const most = `${parameters.bind(limit)}::int`
  const filters = filterConditions(request.filters, parameters)
  if (filters === undefined) return undefined
  const shape: Shape = { schema, parameters, filters, most, now: instant, unexpired: (alias) => liveAt(alias, instant) }

  const both = words && semantic !== undefined
  // The semantic strategy comes first: what it finds is looked at by the lexical one.
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
      : `${scoreOf(name)} as ${name}_score, case when ${name}.score is not null and cardinality(m.passage_starts) > 1 then (${strategy.passages}) end as ${name}_passages`
  })
  const text = `with ${space === undefined || semantic === undefined ? '' : spaceCte(shape, space)}${strategies.map(({ parts }) => parts).join(',\n')}
select ${memoryColumns('m')}, m.passage_starts, m.passage_ends,
  ${columns.join(',\n  ')},
  ${scoreColumns(words, find('semantic')?.cosines)},
  (${totalOf(shape, words ? lexical : undefined, semantic === undefined ? undefined : space)})::int as total
from ${strategies.map(({ name }) => name).join(' full join ')}${both ? ' on semantic.memory_id = lexical.memory_id\nleft join also_lexical on also_lexical.memory_id = semantic.memory_id' : ''}
cross join lateral (
  select m.* from ${schema}.memories m where m.tenant_id = $1 and m.bank_id = $2
    and m.memory_id = ${both ? 'coalesce(lexical.memory_id, semantic.memory_id)' : `${strategies[0]!.name}.memory_id`} offset 0
) m`
  const bounded = request.budget === undefined ? text : withoutLongColumns(text, OWN_COLUMNS)
  return { text: bounded, values: parameters.values }
}

/** The score by which a strategy found a memory, within 0–1: the lexical one counts in parts of GRID. */
function scoreOf (name: Strategy['name']): string {
  return name === 'lexical' ? `lexical.score::float8 / ${GRID}` : 'semantic.score'
}

function scoreColumns (words: boolean, cosines: string | undefined): string {
  const byWords = (column: string) => words ? `coalesce(lexical.${column}${cosines === undefined ? '' : `, also_lexical.${column}`}, 0)::float8 / ${GRID}` : 'null::float8'
  const meaning = cosines === undefined
    ? 'null::float8'
    : words
      ? `coalesce(semantic.score, case when (select ours from space) then (select max(s.score) from (${cosines}) s) end)`
      : 'semantic.score'
  return `${byWords('score')} as by_words, ${byWords('own')} as by_own_words, ${meaning} as by_meaning`
}

/**
 * Memories that a strategy finds, whatever the limit: those that match by words and those with a vector that pass the
 * filters.
 */
function totalOf (shape: Shape, lexical: LexicalRequest | undefined, space: EmbeddingSpace | undefined): string {
  const { schema, filters, unexpired } = shape
  const matching = lexical === undefined ? undefined : matchingMemories(shape, lexical)
  if (space === undefined) return `select count(*) from (${matching}) f`
  const embedded = '(select ours from space)'
  const byWords = matching === undefined ? '' : `or m.memory_id in (${matching})`
  const exact = `select count(*) from ${schema}.memories m
    where m.tenant_id = $1 and m.bank_id = $2 and ${unexpired('m')}${filters} and ((m.embedded and ${embedded}) ${byWords})`
  if (filters !== '') return exact
  // Where nothing expires and everything has a vector, which is usual, the bank's own count is the answer.
  return `select case when sum(s.expiring) = 0 and sum(s.embedded) = sum(s.memories) and ${embedded} then sum(s.memories) else (${exact}) end
    from ${schema}.bank_statistics s where s.tenant_id = $1 and s.bank_id = $2`
}
