import type { Curve } from './measure.js'

type Point = Curve['points'][number]

interface Line {
  readonly label: string
  readonly valueOf: (point: Point) => number | null
}

interface Panel {
  readonly title: string
  readonly lines: readonly Line[]
}

const PANELS: readonly Panel[] = [
  {
    title: 'Search, ms',
    lines: [
      { label: 'hybrid, p95', valueOf: ({ hybrid }) => hybrid.p95_ms },
      { label: 'hybrid, p50', valueOf: ({ hybrid }) => hybrid.p50_ms },
      { label: 'by words, p50', valueOf: ({ lexical }) => lexical.p50_ms },
      { label: 'by vectors, p50', valueOf: ({ vector }) => vector.p50_ms },
    ],
  },
  {
    title: 'Processor time of the database, ms',
    lines: [
      { label: 'a hybrid search', valueOf: ({ hybrid }) => hybrid.database_cpu_ms },
      { label: 'a search by words', valueOf: ({ lexical }) => lexical.database_cpu_ms },
      { label: 'a stored memory', valueOf: ({ ingest_database_cpu_ms: cpu }) => cpu },
    ],
  },
  {
    title: 'Memories stored a second',
    lines: [{ label: 'one connection', valueOf: ({ memories_per_second: rate }) => rate }],
  },
  {
    title: 'Disk and memory',
    lines: [
      { label: 'bytes a memory', valueOf: ({ bytes, memories }) => bytes / memories },
      { label: 'gateway, MB resident', valueOf: ({ gateway_mb: megabytes }) => megabytes },
    ],
  },
]
const [WIDTH, HEIGHT] = [380, 240]
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 118, 34, 34]
const COLORS = ['#d1495b', '#2e86ab', '#3a9d5d', '#b07d12']

/** The panels of a curve as an SVG image, with logarithmic axes; legible on a light and on a dark page. */
export function drawCurve ({ kind, points }: Curve): string {
  const panels = PANELS.map((panel, index) => (
    `<g transform="translate(${index % 2 * WIDTH} ${Math.floor(index / 2) * HEIGHT})">${drawPanel(panel, points)}</g>`
  ))
  const [width, height] = [2 * WIDTH, Math.ceil(PANELS.length / 2) * HEIGHT + 22]
  const below = kind === 'bank' ? 'memories of one bank' : 'banks of five memories'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" ` +
    `aria-label="Costs by the number of ${below}" font-family="sans-serif" font-size="11">
<style>text{fill:#444}.axis{stroke:#999}.grid{stroke:#9995}@media (prefers-color-scheme:dark){text{fill:#ccc}}</style>
${panels.join('\n')}
<text x="${width / 2}" y="${height - 6}" text-anchor="middle">${below}</text>
</svg>
`
}

function drawPanel ({ title, lines }: Panel, points: readonly Point[]): string {
  const values = lines.flatMap(({ valueOf }) => points.flatMap((point) => valueOf(point) ?? []))
  const low = decade(Math.min(...values), Math.floor)
  const high = decade(Math.max(...values), Math.ceil)
  const sizes = points.map(({ size }) => size)
  const x = scale(sizes[0]!, sizes.at(-1)!, LEFT, WIDTH - RIGHT)
  const y = scale(low, Math.max(high, low * 10), HEIGHT - BOTTOM, TOP)
  const parts = [`<text x="${LEFT}" y="20" font-weight="bold">${title}</text>`]
  for (let tick = low; tick <= Math.max(high, low * 10) * 1.001; tick *= 10) {
    parts.push(`<path class="grid" d="M${LEFT} ${y(tick)}H${WIDTH - RIGHT}"/>` +
      `<text x="${LEFT - 6}" y="${y(tick) + 4}" text-anchor="end">${short(tick)}</text>`)
  }
  for (const size of sizes) {
    parts.push(`<text x="${x(size)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${short(size)}</text>`)
  }
  const labels: number[] = []
  for (const [at, { label, valueOf }] of lines.entries()) {
    const known = points.flatMap((point) => {
      const value = valueOf(point)
      return value === null || value <= 0 ? [] : [[x(point.size), y(value)] as const]
    })
    if (known.length === 0) continue
    const color = COLORS[at % COLORS.length]!
    const path = known.map(([left, top], index) => `${index === 0 ? 'M' : 'L'}${left} ${top}`).join('')
    const dots = known.map(([left, top]) => `<circle cx="${left}" cy="${top}" r="3" fill="${color}"/>`).join('')
    // Labels keep a line's distance from each other.
    let top = known.at(-1)![1]
    while (labels.some((other) => Math.abs(other - top) < 12)) top += 2
    labels.push(top)
    parts.push(`<path d="${path}" fill="none" stroke="${color}" stroke-width="2"/>${dots}` +
      `<text x="${WIDTH - RIGHT + 8}" y="${top + 4}">${label}</text>` +
      `<path d="M${WIDTH - RIGHT + 2} ${top}h4" stroke="${color}" stroke-width="3"/>`)
  }
  return parts.join('\n')
}

function scale (from: number, to: number, start: number, end: number): (value: number) => number {
  const width = Math.log10(to) - Math.log10(from) || 1
  return (value) => Math.round((start + (Math.log10(value) - Math.log10(from)) / width * (end - start)) * 10) / 10
}

function decade (value: number, round: (exponent: number) => number): number {
  return 10 ** round(Math.log10(value))
}

function short (value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`
  return value >= 1000 ? `${value / 1000}k` : String(Number(value.toPrecision(3)))
}
