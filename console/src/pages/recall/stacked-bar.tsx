import { scorePartInWords } from '../../text/search-words.js'
import { segmentsOf, type Extent, type Contribution } from './contributions.js'

const COLORS = 6

export function colorOf (name: string, names: readonly string[]): string {
  const index = names.indexOf(name)
  // When there are more contributions than colours, the colours are repeated with hatching.
  return `recall-color-${index % COLORS + 1}${index >= COLORS ? ' recall-hatched' : ''}`
}

interface Props {
  contributions: readonly Contribution[]
  names: readonly string[]
  extent: Extent
}

/**
 * The contributions of strategies and scorers as one bar. A table beside it has the same values, so screen readers skip
 * it.
 */
export function StackedBar ({ contributions, names, extent }: Props) {
  const zero = -extent.min / (extent.max - extent.min)
  return (
    <div class='recall-bar' aria-hidden='true'>
      {segmentsOf(contributions, extent).map(({ name, value, start, width }) => (
        <span
          key={name} class={`recall-segment ${colorOf(name, names)}${value < 0 ? ' negative' : ''}`}
          title={`${scorePartInWords(name)}: ${formatContribution(value)}`}
          style={{ left: `${start * 100}%`, width: `${width * 100}%` }}
        />
      ))}
      {extent.min < 0 && <span class='recall-zero' style={{ left: `${zero * 100}%` }} />}
    </div>
  )
}

export function Legend ({ names }: { names: readonly string[] }) {
  return (
    <>
      <p class='hint'>
        A score says how well a memory fits the query, from 0, not at all, to 1. Its bar shows what it is made of;
        what is left of the line counts against the memory.
      </p>
      <ul class='recall-legend' aria-label='Colours of the bars'>
        {names.map((name) => (
          <li key={name}>
            <span class={`recall-key ${colorOf(name, names)}`} aria-hidden='true' />
            {scorePartInWords(name)}
          </li>
        ))}
      </ul>
    </>
  )
}

export function formatContribution (value: number): string {
  return value.toLocaleString(undefined, {
    minimumFractionDigits: 3, maximumFractionDigits: 3, signDisplay: 'exceptZero',
  })
}
