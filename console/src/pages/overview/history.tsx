import type { AdminHistory } from 'memory-gateway-client'
import { useRef } from 'preact/hooks'
import { Chart } from '../../components/chart.js'
import { EmptyState, Loadable } from '../../components/states.js'
import { admin, adminToken } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { usePoll } from '../../state/use-poll.js'
import { formatBytes, formatClock, formatCount, formatMilliseconds, formatNumber } from '../../text/format.js'

type Sample = AdminHistory['samples'][number]

const POLL_MS = 10_000
/** Maximum number of samples: those of an hour, and the open one. */
const MAX_SAMPLES = 361

/** Appends new samples to earlier ones. The last earlier sample was incomplete, so the new one replaces it. */
function mergeSamples (earlier: readonly Sample[], later: readonly Sample[]): Sample[] {
  const [first] = later
  const kept = first === undefined ? earlier : earlier.filter(({ at }) => at < first.at)
  return [...kept, ...later].slice(-MAX_SAMPLES)
}

/** Requests, durations and memory of the last hour, as the server keeps them. */
export function History () {
  const samplesRef = useRef<Sample[]>([])
  const history = useLoad(async (signal) => {
    const since = samplesRef.current.at(-1)?.at
    const query = since === undefined ? {} : { since }
    const { samples, interval_seconds: seconds } = await admin.value.getHistory(query, { signal })
    samplesRef.current = mergeSamples(samplesRef.current, samples)
    return { samples: samplesRef.current, seconds }
  }, [adminToken.value])
  usePoll(history, POLL_MS)
  return (
    <Loadable loaded={history}>
      {({ samples, seconds }) => (
        samples.length === 0
          ? <EmptyState title='The server has not received a request in the last hour.' />
          : <Charts samples={samples} seconds={seconds} />
      )}
    </Loadable>
  )
}

/** The unit in which the labels of memory are round. */
function unitOfBytes (samples: readonly Sample[]): number {
  return samples.some(({ rss_bytes: bytes }) => (bytes ?? 0) >= 1024 ** 3) ? 1024 ** 3 : 1024 ** 2
}

function Charts ({ samples, seconds }: { samples: readonly Sample[], seconds: number }) {
  const labels = samples.map(({ at }) => formatClock(at))
  const of = (read: (sample: Sample) => number | null) => samples.map(read)
  const perSecond = (read: (sample: Sample) => number) => samples.map((sample) => read(sample) / seconds)
  const sum = (read: (sample: Sample) => number) => samples.reduce((total, sample) => total + read(sample), 0)
  const axis = { labels, timestamps: samples.map(({ at }) => at), labelTitle: 'From' }
  return (
    <>
      <p>
        {formatCount(sum(({ requests }) => requests), 'request')}:{' '}
        {formatNumber(sum((sample) => sample.client_errors))} refused (status 4xx) and{' '}
        {formatNumber(sum((sample) => sample.server_errors))} failed (status 5xx). Dashed lines cross times without
        requests.
      </p>
      <div class='cards'>
        <div class='card'>
          <Chart
            {...axis}
            title='Requests per second'
            format={(value) => value.toLocaleString(undefined, { maximumSignificantDigits: 2 })}
            series={[
              { name: 'all', color: 1, values: perSecond(({ requests }) => requests) },
              { name: 'refused', color: 3, values: perSecond((sample) => sample.client_errors) },
              { name: 'failed', color: 4, values: perSecond((sample) => sample.server_errors) },
            ]}
          />
        </div>
        <div class='card'>
          <Chart
            {...axis} title='Duration of a request' format={formatMilliseconds} series={[
              { name: 'median', color: 1, values: of((sample) => sample.p50_ms) },
              { name: '90 %', color: 2, values: of((sample) => sample.p90_ms) },
              { name: '99 %', color: 3, values: of((sample) => sample.p99_ms) },
            ]}
          />
        </div>
        <div class='card'>
          <Chart
            {...axis} title='Memory of the process' format={formatBytes} unit={unitOfBytes(samples)} series={[
              { name: 'all', color: 1, values: of((sample) => sample.rss_bytes) },
              { name: 'JavaScript heap', color: 2, values: of((sample) => sample.heap_used_bytes) },
            ]}
          />
        </div>
      </div>
    </>
  )
}
