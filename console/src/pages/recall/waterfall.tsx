import type { RecallAnswer } from 'memory-gateway-client'
import { Table } from '../../components/table.js'
import { formatMilliseconds, formatNumber } from '../../text/format.js'
import { scorePartInWords, stageInWords } from '../../text/search-words.js'

type Trace = NonNullable<RecallAnswer['trace']>

/** The stages of a recall, when each began and how long it took. */
export function Waterfall ({ trace, title }: { trace: Trace, title: string }) {
  const { stages, strategies } = trace
  const end = Math.max(0.001, ...stages.map(({ start_ms: start, duration_ms: duration }) => start + duration))
  return (
    <div class='recall-waterfall'>
      <h3>It took {formatMilliseconds(end)}</h3>
      <div class='recall-stages' aria-hidden='true'>
        {stages.map(({ name, start_ms: start, duration_ms: duration }) => (
          <div key={name} class='recall-stage'>
            <span class='recall-stage-name'>{stageInWords(name)}</span>
            <span class='recall-stage-track'>
              <span
                class='recall-stage-bar'
                style={{ left: `${start / end * 100}%`, width: `${Math.max(0.4, duration / end * 100)}%` }}
              />
            </span>
            <span class='number'>{formatMilliseconds(duration)}</span>
          </div>
        ))}
      </div>
      <details>
        <summary>The steps as tables</summary>
        <Table
          caption={`Steps of ${title}`} rows={stages} keyOf={({ name }) => name} columns={[
            { title: 'Step', isHeader: true, cell: ({ name }) => stageInWords(name) },
            { title: 'Began after', isNumber: true, cell: ({ start_ms: start }) => formatMilliseconds(start) },
            { title: 'Took', isNumber: true, cell: ({ duration_ms: duration }) => formatMilliseconds(duration) },
          ]}
        />
        <Table
          caption={`Searches of ${title}`} rows={strategies} keyOf={({ name }) => name} columns={[
            { title: 'Search', isHeader: true, cell: ({ name }) => scorePartInWords(name) },
            { title: 'Weight', isNumber: true, cell: ({ weight }) => formatNumber(weight) },
            { title: 'Found', isNumber: true, cell: ({ candidates }) => formatNumber(candidates) },
          ]}
        />
      </details>
    </div>
  )
}
