import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatUtc } from '../text/format.js'
import { linePath, roundUp } from '../text/scale.js'
import './chart.css'
import { Table } from './table.js'

export interface Series {
  name: string
  /** One value for each place on the axis; null: none. */
  values: ReadonlyArray<number | null>
  /** Index of a chart colour, 1 to 6. */
  color: number
}

interface Props {
  title: string
  /** The labels on the horizontal axis. */
  places: readonly string[]
  /** Those of the places that are instants. */
  instants?: readonly string[]
  /** The title of the column of places in the table. */
  placeTitle: string
  series: readonly Series[]
  format: (value: number) => string
  kind?: 'lines' | 'bars'
  /** The unit in which the top of the chart is a round number. Default 1. */
  unit?: number
}

const HEIGHT = 150
const FOOT = 18

/** A chart, with its values as a table for those who cannot see it. */
export function Chart ({ title, places, instants, placeTitle, series, format, kind = 'lines', unit = 1 }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(600)
  const [hovered, setHovered] = useState<number | undefined>(undefined)
  const [isTableOpen, setIsTableOpen] = useState(false)
  useEffect(() => {
    const { current } = box
    if (current === null) return
    const observer = new ResizeObserver(() => { setWidth(Math.max(200, current.clientWidth)) })
    observer.observe(current)
    return () => { observer.disconnect() }
  }, [])

  const greatest = Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const top = roundUp(greatest / unit) * unit
  const height = HEIGHT - FOOT
  const share = kind === 'bars' ? width / Math.max(1, places.length) : width / Math.max(1, places.length - 1)
  const onMove = ({ offsetX }: PointerEvent) => {
    const index = kind === 'bars' ? Math.floor(offsetX / share) : Math.round(offsetX / share)
    setHovered(index >= 0 && index < places.length ? index : undefined)
  }
  const shown = hovered !== undefined && hovered < places.length ? hovered : undefined
  const mark = shown === undefined ? undefined : (shown + (kind === 'bars' ? 0.5 : 0)) * share
  return (
    <figure class='chart'>
      <figcaption>
        <span class='chart-title'>{title}</span>
        {series.length > 1 && series.map(({ name, color }) => (
          <span key={name} class='chart-legend'><span class={`chart-key series-${color}`} aria-hidden='true' />{name}</span>
        ))}
      </figcaption>
      <div ref={box} class='chart-plot'>
        <svg
          role='img' aria-label={`${title}: a chart; its values are in the table below`} viewBox={`0 0 ${width} ${HEIGHT}`}
          preserveAspectRatio='none' onPointerMove={onMove} onPointerLeave={() => { setHovered(undefined) }}
        >
          {[0, 0.5, 1].map((part) => (
            <g key={part}>
              <line class='chart-grid' x1={0} x2={width} y1={height * part} y2={height * part} />
              {part < 1 && <text class='chart-axis' x={2} y={height * part + 12}>{format(top * (1 - part))}</text>}
            </g>
          ))}
          {kind === 'bars'
            ? series.map(({ name, values, color }) => values.map((value, index) => value !== null && value > 0 && (
              <rect
                key={`${name} ${index}`} class={`series-${color}`} x={index * share + share * 0.1} width={share * 0.8}
                y={height - value / top * height} height={value / top * height}
              />
            )))
            : series.map(({ name, values, color }) => (
              <path
                key={name} class={`chart-line series-${color}`} stroke-linecap='round'
                d={linePath(values, width, height, top)}
              />
            ))}
          {mark !== undefined && <line class='chart-mark' x1={mark} x2={mark} y1={0} y2={height} />}
          <text class='chart-axis' x={0} y={HEIGHT - 3}>{places[0]}</text>
          <text class='chart-axis' x={width} y={HEIGHT - 3} text-anchor='end'>{places.at(-1)}</text>
        </svg>
      </div>
      <p class='chart-readout' aria-hidden='true'>
        {shown !== undefined && [`${places[shown] ?? ''}${utc(instants?.[shown])}`, ...series.map(({ name, values }) => `${name} ${told(values[shown], format)}`)].join(' · ')}
      </p>
      <details onToggle={({ currentTarget }) => { setIsTableOpen(currentTarget.open) }}>
        <summary>{title} as a table</summary>
        {isTableOpen && (
          <Table
            caption={title} rows={places.map((_, index) => index)} keyOf={String} columns={[
              { title: placeTitle, isHeader: true, cell: (index: number) => placeAt(places[index], instants?.[index]) },
              ...series.map(({ name, values }) => (
                { title: name, isNumber: true, cell: (index: number) => told(values[index], format) }
              )),
            ]}
          />
        )}
      </details>
    </figure>
  )
}

function placeAt (place: string | undefined, instant: string | undefined): ComponentChildren {
  return instant === undefined ? place : <time datetime={instant} title={formatUtc(instant)}>{place}</time>
}

function utc (instant: string | undefined): string {
  return instant === undefined ? '' : ` (${formatUtc(instant)})`
}

function told (value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value)
}
