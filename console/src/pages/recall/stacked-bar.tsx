import { segmentsOf, type Extent, type Part } from './parts.js'

const COLORS = 6

export function colorOf (name: string, names: readonly string[]): string {
  const index = names.indexOf(name)
  // When there are more parts than colours, the colours are repeated with hatching.
  return `recall-color-${index % COLORS + 1}${index >= COLORS ? ' recall-hatched' : ''}`
}

interface Props {
  parts: readonly Part[]
  names: readonly string[]
  extent: Extent
}

/**
 * The contributions of strategies and scorers as one bar. A table beside it has the same values, so screen readers skip
 * it.
 */
export function StackedBar ({ parts, names, extent }: Props) {
  const zero = -extent.least / (extent.most - extent.least)
  return (
    <div class='recall-bar' aria-hidden='true'>
      {segmentsOf(parts, extent).map(({ name, value, start, width }) => (
        <span
          key={name} class={`recall-segment ${colorOf(name, names)}${value < 0 ? ' negative' : ''}`}
          title={`${name}: ${formatPart(value)}`} style={{ left: `${start * 100}%`, width: `${width * 100}%` }}
        />
      ))}
      {extent.least < 0 && <span class='recall-zero' style={{ left: `${zero * 100}%` }} />}
    </div>
  )
}

export function Legend ({ names }: { names: readonly string[] }) {
  return (
    <ul class='recall-legend' aria-label='Colours of the bars'>
      {names.map((name) => (
        <li key={name}><span class={`recall-key ${colorOf(name, names)}`} aria-hidden='true' />{name}</li>
      ))}
    </ul>
  )
}

export function formatPart (value: number): string {
  return value.toLocaleString(undefined, { minimumFractionDigits: 3, maximumFractionDigits: 3, signDisplay: 'exceptZero' })
}
