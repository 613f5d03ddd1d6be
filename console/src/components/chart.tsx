import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatHour, formatUtc } from '../text/format.js'
import { linePaths, roundUp } from '../text/scale.js'
import './chart.css'
import { Table } from './table.js'

export interface Series {
  name: string
  /** One value for each label on the axis; null: none. */
  values: ReadonlyArray<number | null>
  /** Index of a chart colour, 1 to 6. */
  color: number
}

interface Props {
  title: string
  /** The label of each point on the horizontal axis. */
  labels: readonly string[]
  /** The instants of the labels, if the axis is a time axis. */
  timestamps?: readonly string[]
  /** The title of the labels' column in the table. */
  labelTitle: string
  series: readonly Series[]
  format: (value: number) => string
  kind?: 'lines' | 'bars'
  /** The unit in which the top of the chart is a round number. Default 1. */
  unit?: number
}

const HEIGHT = 150
const AXIS_HEIGHT = 18

/** A chart, with its values as a table for those who cannot see it. */
export function Chart ({ title, labels, timestamps, labelTitle, series, format, kind = 'lines', unit = 1 }: Props) {
  const container = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(600)
  const [hovered, setHovered] = useState<number | undefined>(undefined)
  const [isTableOpen, setIsTableOpen] = useState(false)
  useEffect(() => {
    const { current } = container
    if (current === null) return
    const observer = new ResizeObserver(() => { setWidth(Math.max(200, current.clientWidth)) })
    observer.observe(current)
    return () => { observer.disconnect() }
  }, [])

  const maximum = Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)))
  // Bars are counts, of which there is no half.
  const top = Math.max(kind === 'bars' ? 2 : 0, roundUp(maximum / unit) * unit)
  const axisLabel = (index: number) => {
    const instant = timestamps?.[index]
    return instant === undefined ? labels[index] : formatHour(instant)
  }
  const height = HEIGHT - AXIS_HEIGHT
  const step = kind === 'bars' ? width / Math.max(1, labels.length) : width / Math.max(1, labels.length - 1)
  const onMove = ({ offsetX }: PointerEvent) => {
    const index = kind === 'bars' ? Math.floor(offsetX / step) : Math.round(offsetX / step)
    setHovered(index >= 0 && index < labels.length ? index : undefined)
  }
  const selected = hovered !== undefined && hovered < labels.length ? hovered : undefined
  const cursorX = selected === undefined ? undefined : (selected + (kind === 'bars' ? 0.5 : 0)) * step
  return (
    <figure class='chart'>
      <figcaption>
        <span class='chart-title'>{title}</span>
        {series.length > 1 && (
          <span class='chart-legend'>
            {series.map(({ name, color }) => (
              <span key={name} class='chart-name'>
                <span class={`chart-swatch series-${color}`} aria-hidden='true' />{name}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      <div ref={container} class='chart-plot'>
        <svg
          role='img' aria-label={`${title}: a chart; its values are in the ` +
            'table below'} viewBox={`0 0 ${width} ${HEIGHT}`}
          preserveAspectRatio='none' onPointerMove={onMove} onPointerLeave={() => { setHovered(undefined) }}
        >
          {[0, 0.5, 1].map((part) => (
            <line key={part} class='chart-grid' x1={0} x2={width} y1={height * part} y2={height * part} />
          ))}
          {kind === 'bars'
            ? series.map(({ name, values, color }) => values.map((value, index) => value !== null && value > 0 && (
              <rect
                key={`${name} ${index}`} class={`series-${color}`} x={index * step + step * 0.1} width={step * 0.8}
                y={height - value / top * height} height={value / top * height}
              />
            )))
            : series.map(({ name, values, color }) => {
              const { line, bridges } = linePaths(values, width, height, top)
              const known = values.flatMap((value, index) => value === null ? [] : [{ value, index }])
              const [only] = known.length === 1 ? known : []
              return (
                <g key={name} class={`series-${color}`}>
                  <path class='chart-line' d={line} />
                  <path class='chart-bridge' d={bridges} />
                  {only !== undefined && (
                    <circle cx={only.index * step} cy={height - only.value / top * height} r={3} />
                  )}
                </g>
              )
            })}
          {/* Drawn after the series, so that no line crosses the labels. */}
          {[0, 0.5].map((part) => (
            <text key={part} class='chart-axis' x={2} y={height * part + 12}>{format(top * (1 - part))}</text>
          ))}
          {cursorX !== undefined && <line class='chart-cursor' x1={cursorX} x2={cursorX} y1={0} y2={height} />}
          <text class='chart-axis' x={0} y={HEIGHT - 3}>{axisLabel(0)}</text>
          <text class='chart-axis' x={width} y={HEIGHT - 3} text-anchor='end'>{axisLabel(labels.length - 1)}</text>
        </svg>
      </div>
      <p class='chart-readout' aria-hidden='true'>
        {selected !== undefined &&
          [
            `${labels[selected] ?? ''}${utc(timestamps?.[selected])}`,
            ...series.map(({ name, values }) => `${name} ${formatOrDash(values[selected], format)}`),
          ].join(' · ')}
      </p>
      <details onToggle={({ currentTarget }) => { setIsTableOpen(currentTarget.open) }}>
        <summary>{title} as a table</summary>
        {isTableOpen && (
          <Table
            caption={title} rows={labels.map((_, index) => index)} keyOf={String} columns={[
              {
                title: labelTitle,
                isHeader: true,
                cell: (index: number) => labelCell(labels[index], timestamps?.[index]),
              },
              ...series.map(({ name, values }) => (
                { title: name, isNumber: true, cell: (index: number) => formatOrDash(values[index], format) }
              )),
            ]}
          />
        )}
      </details>
    </figure>
  )
}

function labelCell (label: string | undefined, instant: string | undefined): ComponentChildren {
  return instant === undefined ? label : <time datetime={instant} title={formatUtc(instant)}>{label}</time>
}

function utc (instant: string | undefined): string {
  return instant === undefined ? '' : ` (${formatUtc(instant)})`
}

function formatOrDash (value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value)
}
