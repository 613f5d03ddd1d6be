import autocannon from 'autocannon'
import { summarize } from '../percentiles.js'
import { reserveNumbers, type LoadResult, type Requests } from './load-tool.js'

/** Runs in this process on one core: above about 20,000 requests a second it measures itself. */
export async function runAutocannon ({ url, method, bodies, connections, seconds }: Requests): Promise<LoadResult> {
  let number = reserveNumbers()
  let nextBody = 0
  const instance = autocannon({
    url,
    connections,
    duration: seconds,
    timeout: 60,
    requests: [{
      method,
      headers: bodies.length > 0 ? { 'content-type': 'application/json' } : {},
      ...(bodies.length > 0 && {
        setupRequest: (request) => ({
          ...request, body: bodies[nextBody++ % bodies.length]!.replace('\t', () => String(++number)),
        }),
      }),
    }],
  })
  const durations: number[] = []
  instance.on(
    'response',
    (_client: unknown, _status: number, _bytes: number, milliseconds: number) => { durations.push(milliseconds) },
  )
  const { duration, errors, timeouts, non2xx } = await instance
  if (non2xx > 0 || errors > 0 || timeouts > 0 || durations.length === 0) {
    throw new Error(`${url}: of ${durations.length} answers ${non2xx} were not 2xx; ${errors} connections failed, ` +
      `${timeouts} requests timed out`)
  }
  const { p50, p95, p99 } = summarize(durations)
  return {
    requests: durations.length, requests_per_second: durations.length / duration, p50_ms: p50, p95_ms: p95, p99_ms: p99,
  }
}
