import type { BankStatistics } from 'memory-gateway-client'
import type { ComponentChildren } from 'preact'
import { SafeText } from '../../components/safe-text.js'
import { Time } from '../../components/time.js'
import { hrefOf } from '../../state/router.js'
import { formatCount, formatNumber } from '../../text/format.js'

const MAX_SHOWN = 8

interface Props {
  bank: string
  statistics: BankStatistics & { speakers?: ReadonlyArray<{ speaker: string, memory_count: number }> }
}

/** What a bank knows: how much, from when to when, from whom, and about what. */
export function Summary ({ bank, statistics }: Props) {
  const { memory_count: count, speakers = [], tags } = statistics
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
        title='Speakers' terms={speakers.map(({ speaker, memory_count: told }) => ({
          name: speaker, count: told, label: <SafeText text={speaker} isExpandable={false} truncateAt={40} />,
        }))}
      />
      <Terms
        title='Tags' terms={tags.map(({ tag, memory_count: tagged }) => ({
          name: tag,
          count: tagged,
          label: (
            <a class='tag' href={hrefOf('memories', { bank, tag })}>
              <SafeText text={tag} isExpandable={false} truncateAt={40} />
            </a>
          ),
        }))}
      />
    </section>
  )
}

/** The most frequent values of a field, each with the number of its memories. */
function Terms (
  { title, terms }: { title: string, terms: ReadonlyArray<{ name: string, count: number, label: ComponentChildren }> },
) {
  if (terms.length === 0) return null
  return (
    <p class='memories-terms'>
      <span>{title}:</span>
      {terms.slice(0, MAX_SHOWN).map(({ name, count, label }) => (
        <span key={name}>{label} {formatNumber(count)}</span>
      ))}
      {terms.length > MAX_SHOWN && <span>and {formatNumber(terms.length - MAX_SHOWN)} more</span>}
    </p>
  )
}
