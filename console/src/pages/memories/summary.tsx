import type { BankStatistics } from 'memory-gateway-client'
import { SafeText } from '../../components/safe-text.js'
import { Time } from '../../components/time.js'
import { hrefOf } from '../../state/router.js'
import { formatCount, formatNumber } from '../../text/format.js'

const MAX_SHOWN = 8

/** What a bank knows: how much, from whom, from when to when, and about what. */
export function Summary ({ bank, statistics }: { bank: string, statistics: BankStatistics }) {
  const { memory_count: count, tags } = statistics
  const [from, until] = statistics.first_occurred_at !== null
    ? [statistics.first_occurred_at, statistics.last_occurred_at]
    : [statistics.first_retained_at, statistics.last_retained_at]
  return (
    <section class='card memories-summary' aria-label='What the bank knows'>
      <p>
        <strong>{formatCount(count, 'memory', 'memories')}</strong>
        {from !== null && <>, from <Time at={from} /> to <Time at={until} /></>}.
        {' '}<a href={hrefOf('banks', { bank })}>Growth and numbers</a>
      </p>
      {tags.length > 0 && (
        <p>
          Tags:{' '}
          {tags.slice(0, MAX_SHOWN).map(({ tag, memory_count: tagged }) => (
            <span key={tag} class='memories-term'>
              <a class='tag' href={hrefOf('memories', { bank, tag })}>
                <SafeText text={tag} isExpandable={false} truncateAt={40} />
              </a>{' '}
              {formatNumber(tagged)}
            </span>
          ))}
          {tags.length > MAX_SHOWN && <>and others</>}
        </p>
      )}
    </section>
  )
}
