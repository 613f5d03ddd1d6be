import type { BankStatistics } from 'memory-gateway-client'
import { SafeText } from '../../components/safe-text.js'
import { Time } from '../../components/time.js'
import { hrefOf } from '../../state/router.js'
import { formatCount, formatNumber } from '../../text/format.js'

const MAX_SHOWN = 8

/** What a bank knows: how much, from when to when, from whom, and about what. */
export function Summary ({ bank, statistics }: { bank: string, statistics: BankStatistics }) {
  const { memory_count: count, speakers, tags } = statistics
  const [from, until] = statistics.first_occurred_at !== null
    ? [statistics.first_occurred_at, statistics.last_occurred_at]
    : [statistics.first_retained_at, statistics.last_retained_at]
  return (
    <section class='card memories-summary' aria-label='What the bank knows'>
      <p>
        <strong>{formatCount(count, 'memory', 'memories')}</strong>
        {from !== null && <>, from <Time at={from} isDate /> to <Time at={until} isDate /></>}.
        {' '}<a href={hrefOf('banks', { bank })}>Growth and numbers</a>
      </p>
      <Terms
        title='Speakers'
        terms={speakers.map(({ speaker, memory_count: told }) => ({
          name: speaker, count: told, href: hrefOf('memories', { bank, speaker }),
        }))}
      />
      <Terms
        title='Tags'
        terms={tags.map(({ tag, memory_count: tagged }) => ({
          name: tag, count: tagged, href: hrefOf('memories', { bank, tag }),
        }))}
      />
    </section>
  )
}

/** The most frequent values of a field, each with the number of its memories, which its link lists. */
function Terms (
  { title, terms }: { title: string, terms: ReadonlyArray<{ name: string, count: number, href: string }> },
) {
  if (terms.length === 0) return null
  return (
    <p class='memories-terms'>
      <span>{title}:</span>
      {terms.slice(0, MAX_SHOWN).map(({ name, count, href }) => (
        <span key={name}>
          <a class='tag' href={href}><SafeText text={name} isExpandable={false} truncateAt={40} /></a>
          {' '}{formatNumber(count)}
        </span>
      ))}
      {terms.length > MAX_SHOWN && <span>and {formatNumber(terms.length - MAX_SHOWN)} more</span>}
    </p>
  )
}
