import type { AdminHistory } from 'memory-gateway-client'
import { useRef } from 'preact/hooks'
import { Chart } from '../../components/chart.js'
import { Empty, Loadable } from '../../components/states.js'
import { admin, adminToken } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { usePoll } from '../../state/use-poll.js'
import { formatBytes, formatClock, formatCount, formatMilliseconds, formatNumber } from '../../text/format.js'

type Sample = AdminHistory['samples'][number]

const POLL_MS = 10_000
/** The most steps that are kept: those of an hour. */
const MOST_STEPS = 361

/** Appends new samples to earlier ones; the last earlier step was still open, so its new sample replaces it. */
function joined (before: readonly Sample[], after: readonly Sample[]): Sample[] {
  const [first] = after
  const kept = first === undefined ? before : before.filter(({ at }) => at < first.at)
  return [...kept, ...after].slice(-MOST_STEPS)
}

/** Requests, durations and memory of the last hour, as the server keeps them. */
export function History () {
  const known = useRef<Sample[]>([])
  const history = useLoad(async (signal) => {
    const since = known.current.at(-1)?.at
    const query = since === undefined ? {} : { since }
    const { samples, interval_seconds: seconds } = await admin.value.getHistory(query, { signal })
    known.current = joined(known.current, samples)
    return { samples: known.current, seconds }
  }, [adminToken.value])
  usePoll(history, POLL_MS)
  return (
    <Loadable loaded={history}>
      {({ samples, seconds }) => samples.length === 0 ? <Empty title='No request yet.' /> : <Charts samples={samples} seconds={seconds} />}
    </Loadable>
  )
}

function Charts ({ samples, seconds }: { samples: readonly Sample[], seconds: number }) {
  const places = samples.map(({ at }) => formatClock(at))
  const of = (read: (sample: Sample) => number | null) => samples.map(read)
  const perSecond = (read: (sample: Sample) => number) => samples.map((sample) => read(sample) / seconds)
  const sum = (read: (sample: Sample) => number) => samples.reduce((total, sample) => total + read(sample), 0)
  const axis = { places, instants: samples.map(({ at }) => at), placeTitle: 'From' }
  return (
    <>
      <p>
        {formatCount(sum(({ requests }) => requests), 'request')}, of them {formatNumber(sum((sample) => sample.client_errors))} refused
        and {formatNumber(sum((sample) => sample.server_errors))} failed by the server.
      </p>
      <div class='cards'>
        <div class='card'>
          <Chart
            {...axis} title='Requests per second' format={(value) => value.toLocaleString(undefined, { maximumFractionDigits: 1 })} series={[
              { name: 'all', color: 1, values: perSecond(({ requests }) => requests) },
              { name: 'status 4xx', color: 3, values: perSecond((sample) => sample.client_errors) },
              { name: 'status 5xx', color: 4, values: perSecond((sample) => sample.server_errors) },
            ]}
          />
        </div>
        <div class='card'>
          <Chart
            {...axis} title='Duration' format={formatMilliseconds} series={[
              { name: 'half', color: 1, values: of((sample) => sample.p50_ms) },
              { name: '90 of 100', color: 2, values: of((sample) => sample.p90_ms) },
              { name: '99 of 100', color: 3, values: of((sample) => sample.p99_ms) },
            ]}
          />
        </div>
        <div class='card'>
          <Chart
            {...axis} title='Memory of the process' format={formatBytes} unit={1024 ** 2} series={[
              { name: 'all', color: 1, values: of((sample) => sample.rss_bytes) },
              { name: 'JavaScript heap', color: 2, values: of((sample) => sample.heap_used_bytes) },
            ]}
          />
        </div>
      </div>
    </>
  )
}
