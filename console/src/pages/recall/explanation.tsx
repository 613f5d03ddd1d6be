import type { ExplainRecallAnswer } from 'memory-gateway-client'
import type { ComponentChildren } from 'preact'
import { SafeText } from '../../components/safe-text.js'
import { Time } from '../../components/time.js'
import { formatNumber } from '../../text/format.js'
import { scorePartInWords, skippedInWords } from '../../text/search-words.js'
import { formatContribution } from './stacked-bar.js'

type Stages = ExplainRecallAnswer['stages']
type Step = [title: string, tone: '' | 'good' | 'warning' | 'danger', state: string, more?: ComponentChildren]

const VERDICTS: Readonly<Record<ExplainRecallAnswer['verdict'], string>> = {
  returned: 'It is among the hits.',
  not_in_bank: 'The bank has no such memory, or the memory has expired.',
  filtered: 'A filter excludes it.',
  no_strategy_found_it: 'It matches the query neither by words nor by meaning.',
  not_a_candidate: 'It fits the query, but too many others fit better.',
  below_min_score: 'Its score is below the minimum score.',
  cut_by_max_results: 'Other memories rank higher, and the number of results is limited.',
  cut_by_max_tokens: 'Other memories rank higher, and the number of tokens is limited.',
}
const STATES: Readonly<Record<string, [tone: Step[1], text: string]>> = {
  candidate: ['good', 'found it'],
  too_low: ['warning', 'found it, but too many others fit better'],
  no_match: ['danger', 'did not find it: it contains no word of the query'],
  no_vector: ['danger', 'could not find it: the memory has no vector yet'],
  filtered: ['danger', 'not searched: a filter excludes it'],
  degraded: ['warning', 'was skipped: a model was unavailable or too slow'],
  off: ['', 'is disabled'],
  judged: ['good', 'scored it'],
  not_judged: ['warning', 'did not receive it: it ranked too low'],
}

/** Why a recall returns a memory or does not, stage by stage. */
export function Explanation ({ answer }: { answer: ExplainRecallAnswer }) {
  const { found, verdict, rank, score, stages, degraded = [] } = answer
  return (
    <div class='recall-explanation' role='status'>
      <p>
        <span class={`badge ${found ? 'good' : 'danger'}`}>{found ? 'found' : 'not found'}</span>{' '}
        <strong>{VERDICTS[verdict]}</strong>
        {rank !== null && ` Rank ${formatNumber(rank)}`}{score !== null && `, score ${score.toFixed(3)}`}
      </p>
      {degraded.length > 0 &&
        <p class='notice'>Skipped, because a model was unavailable or too slow: {skippedInWords(degraded)}.</p>}
      <ol class='recall-steps'>
        {stepsOf(stages).map(([title, tone, state, more]) => (
          <li key={title}><span class={`badge ${tone}`}>{title}</span> {state}{more}</li>
        ))}
      </ol>
    </div>
  )
}

function stateOf (title: string, state: string): [string, Step[1], string] {
  const [tone, text] = STATES[state] ?? ['', state]
  return [title, tone, text]
}

function ranked (stage: { rank: number | null, score: number | null, candidates?: number, beyond?: number }): string {
  const { rank, score, candidates, beyond } = stage
  return [
    ...(rank === null ? [] : [`rank ${formatNumber(rank)}`]),
    ...(score === null ? [] : [`score ${score.toFixed(3)}`]),
    ...(candidates === undefined ? [] : [`${formatNumber(candidates)} found`]),
    ...(beyond === undefined ? [] : [`not among the best ${formatNumber(beyond)}`]),
  ].map((part) => `; ${part}`).join('')
}

function stepsOf ({ filter, lexical, semantic, times, parts, fusion, scorers, rerank, budget }: Stages): Step[] {
  const steps: Step[] = []
  if (filter !== undefined) {
    steps.push(filter.passed
      ? ['Filters', 'good', 'passed']
      : ['Filters', 'danger', `not satisfied: ${filter.failed.map(filterInWords).join(', ')}`])
  }
  if (lexical !== undefined) steps.push([...stateOf('Words', lexical.state), <Lexical key='lexical' stage={lexical} />])
  if (semantic !== undefined) {
    const [title, tone, text] = stateOf('Meaning', semantic.state)
    steps.push([title, tone, text + ranked(semantic)])
  }
  if (times !== undefined) {
    steps.push(['Times', '', times.searched
      ? 'it occurred in a time that the query names'
      : 'it did not occur in a time that the query names', (
        <ul key='times'>{times.spans.map(({ from, to }) => (
          <li key={from}><Time at={from} /> to <Time at={to} /></li>
        ))}
        </ul>
    )])
  }
  if (parts !== undefined) {
    steps.push(['Parts', '', 'the query was split', (
      <ul key='parts'>
        {parts.map(({ query, rank }) => (
          <li key={query}><SafeText text={query} />: {rank === null ? 'not found' : `rank ${rank}`}</li>
        ))}
      </ul>
    )])
  }
  if (fusion !== undefined) {
    const together = `rank ${formatNumber(fusion.rank)}; sum ${formatContribution(fusion.score)}`
    steps.push(['Words and meaning together', '', together])
  }
  if (scorers !== undefined) {
    const signals = Object.entries(scorers.signals).map(([name, value]) => (
      `${scorePartInWords(name)} ${formatContribution(value)}`
    ))
    steps.push([
      'Details', '',
      `rank ${formatNumber(scorers.rank)}; score ` +
        `${scorers.score.toFixed(3)}${signals.map((signal) => `; ${signal}`).join('')}`,
    ])
  }
  if (rerank !== undefined) {
    const [title, tone, text] = stateOf('Reranker', rerank.state)
    steps.push([title, tone, text + ranked(rerank)])
  }
  if (budget !== undefined) {
    const { cut_by: cutBy, min_score: minScore, max_results: maxResults, max_tokens: maxTokens } = budget
    const limits = `minimum score ${minScore}; maximum results ${formatNumber(maxResults)}; ` +
      `tokens including it ${formatNumber(budget.tokens_needed)}` +
      (maxTokens === null ? '' : ` of ${formatNumber(maxTokens)}`)
    const outcome = cutBy.length > 0 ? `left out by ${cutBy.map(limitInWords).join(', ')}` : 'kept'
    steps.push(['Limits', cutBy.length > 0 ? 'danger' : 'good', `${outcome}; ${limits}`])
  }
  return steps
}

function Lexical ({ stage }: { stage: NonNullable<Stages['lexical']> }) {
  const { terms: { asked: queryTerms, in_memory: memoryTerms, from_neighbours: fromNeighbours } } = stage
  return (
    <>
      {ranked(stage)}
      <br />
      Query words: <SafeText text={queryTerms.length === 0 ? 'none' : queryTerms.join(', ')} />. In the memory:{' '}
      <SafeText text={memoryTerms.length === 0 ? 'none' : memoryTerms.join(', ')} />.
      {fromNeighbours === true && ' Its neighbours contribute.'}
    </>
  )
}

type FilterName = NonNullable<Stages['filter']>['failed'][number]
type LimitName = NonNullable<Stages['budget']>['cut_by'][number]

function filterInWords (name: FilterName): string {
  return {
    tags: 'tags',
    metadata: 'metadata',
    speakers: 'speakers',
    document_ids: 'documents',
    occurred_after: 'occurred from',
    occurred_before: 'occurred before',
    as_of: 'as of',
    state: 'state',
    valid_at: 'valid at',
    min_trust: 'minimum trust',
  }[name]
}

function limitInWords (name: LimitName): string {
  return { min_score: 'the minimum score', max_results: 'the maximum results', max_tokens: 'the maximum tokens' }[name]
}
