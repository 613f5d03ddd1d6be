import type { Hit, RecallAnswer } from 'memory-gateway-client'
import { SafeText } from '../../components/safe-text.js'
import { Said } from '../../components/said.js'
import { EmptyState } from '../../components/states.js'
import { formatCount, formatNumber } from '../../text/format.js'
import { skippedInWords } from '../../text/search-words.js'
import { missingHits, rankChangesOf } from './rank-changes.js'
import { HitView } from './hit-view.js'
import type { Extent } from './contributions.js'
import { Waterfall } from './waterfall.js'

interface Props {
  title: string
  answer: RecallAnswer
  /** The answer with which this one is compared, and its title. */
  other?: { title: string, answer: RecallAnswer } | undefined
  names: readonly string[]
  extent: Extent
  showsBank: boolean
  onExplain: ((hit: Hit) => void) | undefined
}

/** The answer of a recall with one of the compared settings. */
export function Results ({ title, answer, other, names, extent, showsBank, onExplain }: Props) {
  const { hits, total_available: total, truncated, usage, degraded = [], trace } = answer
  const rankChanges = other === undefined ? [] : rankChangesOf(other.answer.hits, hits)
  const missing = other === undefined ? [] : missingHits(other.answer.hits, hits)
  return (
    <section class='recall-results' aria-label={title}>
      <h2>{title}</h2>
      <p role='status'>
        {formatCount(hits.length, 'hit')} of {formatCount(total, 'memory that fits', 'memories that fit')},
        {' '}{formatCount(usage.tokens, 'token')}
        {truncated && '; cut by the limit of tokens'}.
      </p>
      {degraded.length > 0 &&
        <p class='notice'>Skipped, because a model was unavailable or too slow: {skippedInWords(degraded)}.</p>}
      {trace !== undefined && <Waterfall trace={trace} title={title} />}
      {hits.length === 0
        ? (
          <EmptyState title='Nothing was found.'>
            <p>“Why was it not found?” below tells it for any memory.</p>
          </EmptyState>
          )
        : (
          <ol class='recall-hits' aria-label={`Hits of ${title}`}>
            {hits.map((hit, index) => (
              <HitView
                key={`${hit.bank_id} ${hit.memory_id}`} hit={hit} rank={index + 1} names={names} extent={extent}
                change={rankChanges[index]} showsBank={showsBank}
                onExplain={onExplain === undefined ? undefined : () => { onExplain(hit) }}
              />
            ))}
          </ol>
          )}
      {other !== undefined && missing.length > 0 && (
        <details>
          <summary>{formatNumber(missing.length)} of {other.title} not here</summary>
          <ul class='recall-missing'>
            {missing.map((hit) => (
              <li key={hit.memory_id}>
                <Said memory={hit} />{' '}
                <SafeText text={hit.text} truncateAt={120} isExpandable={false} />{' '}
                {onExplain !== undefined &&
                  <button type='button' class='as-link' onClick={() => { onExplain(hit) }}>why not?</button>}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}
