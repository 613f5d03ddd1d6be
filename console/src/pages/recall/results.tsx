import type { Hit, RecallAnswer } from 'memory-gateway-client'
import { SafeText } from '../../components/safe-text.js'
import { Empty } from '../../components/states.js'
import { formatCount, formatNumber } from '../../text/format.js'
import { lostOf, movesOf } from './compare.js'
import { HitView } from './hit-view.js'
import type { Extent } from './parts.js'
import { Waterfall } from './waterfall.js'

interface Props {
  title: string
  answer: RecallAnswer
  /** The answer with which this one is compared, and its title. */
  other?: { title: string, answer: RecallAnswer } | undefined
  names: readonly string[]
  extent: Extent
  showsBank: boolean
  onWhy: ((hit: Hit) => void) | undefined
}

/** The answer of one setting. */
export function Results ({ title, answer, other, names, extent, showsBank, onWhy }: Props) {
  const { hits, total_available: total, truncated, usage, degraded = [], trace } = answer
  const moves = other === undefined ? [] : movesOf(other.answer.hits, hits)
  const lost = other === undefined ? [] : lostOf(other.answer.hits, hits)
  return (
    <section class='recall-results' aria-label={title}>
      <h2>{title}</h2>
      <p role='status'>
        {formatCount(hits.length, 'hit')} of {formatCount(total, 'candidate')}, {formatCount(usage.tokens, 'token')}
        {truncated && '; cut by the bound of tokens'}.
      </p>
      {degraded.length > 0 && <p class='notice'>Skipped, as a model was down or late: {degraded.join(', ')}.</p>}
      {trace !== undefined && <Waterfall trace={trace} title={title} />}
      {hits.length === 0
        ? <Empty title='Nothing was found.'><p>“Why not this one?” below tells what kept a memory out.</p></Empty>
        : (
          <ol class='recall-hits' aria-label={`Hits of ${title}`}>
            {hits.map((hit, index) => (
              <HitView
                key={`${hit.bank_id} ${hit.memory_id}`} hit={hit} rank={index + 1} names={names} extent={extent}
                move={moves[index]} showsBank={showsBank}
                onWhy={onWhy === undefined ? undefined : () => { onWhy(hit) }}
              />
            ))}
          </ol>
          )}
      {other !== undefined && lost.length > 0 && (
        <details>
          <summary>{formatNumber(lost.length)} of {other.title} not here</summary>
          <ul class='recall-lost'>
            {lost.map((hit) => (
              <li key={hit.memory_id}>
                <SafeText text={hit.text} shown={120} isExpandable={false} />{' '}
                {onWhy !== undefined && <button type='button' class='as-link' onClick={() => { onWhy(hit) }}>why not?</button>}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}
