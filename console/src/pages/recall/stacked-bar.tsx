import { segmentsOf, type Extent, type Part } from './parts.js'

const COLORS = 6

export function colorOf (name: string, names: readonly string[]): string {
  const index = names.indexOf(name)
  // More than there are colours: the same again, hatched.
  return `recall-color-${index % COLORS + 1}${index >= COLORS ? ' recall-hatched' : ''}`
}

interface Props {
  parts: readonly Part[]
  names: readonly string[]
  extent: Extent
}

/** What each strategy and scorer gave, as one bar. What it shows stands in a table beside it, so it is hidden. */
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
