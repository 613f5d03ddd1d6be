import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { testApp } from '../helpers/app.js'
import { scrape } from '../helpers/exposition.js'
import { freePort } from '../../bench/free-port.js'

interface Panel { title: string, targets?: Array<{ expr: string }> }

/** Panels of what may never happen, and what their queries count. */
const QUIET: Record<string, string> = {
  'Share of server errors': 'memory_gateway_http_request_duration_seconds_count',
  'Cost a day at this pace': 'memory_gateway_model_cost_total',
  'Failed authentication': 'memory_gateway_auth_failures_total',
}

const { panels } = JSON.parse(
  await readFile(new URL('../../ops/grafana/memory-gateway.json', import.meta.url), 'utf8'),
) as { panels: Panel[] }
const expressions = new Map(panels.map(({ title, targets = [] }) => [title, targets[0]?.expr ?? '']))

await t.test('a panel of rare events falls back on a metric that every gateway exposes from the start', async (t) => {
  const told = new Set((await scrape(await testApp(t))).map(({ name }) => name))
  for (const [title, counted] of Object.entries(QUIET)) {
    const [asked, fallback] = expressions.get(title)!.split(' or on() ')
    t.match(asked, new RegExp(`\\b${counted}\\b`), title)
    t.ok(told.has(/^0 \* sum\((\w+)\{/.exec(fallback ?? '')?.[1] ?? ''), title)
  }
})

function hasPrometheus (): boolean {
  try {
    execFileSync('prometheus', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Starts Prometheus, which asks the gateway every 200 ms. @returns its address */
async function startPrometheus (t: Test, target: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'memory-gateway-prometheus-'))
  const file = join(folder, 'prometheus.yaml')
  await writeFile(
    file,
    'global: { scrape_interval: 200ms, scrape_timeout: 200ms }\nscrape_configs: [{ job_name: memory-gateway, ' +
      `static_configs: [{ targets: ['${target}'] }] }]\n`,
  )
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(
    'prometheus',
    [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`, `--web.listen-address=${address}`],
    { stdio: 'ignore' },
  )
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.kill()
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  return `http://${address}`
}

/** Asks until there is an answer with series: Prometheus has to start and to scrape first. */
async function evaluate (
  prometheus: string, expr: string,
): Promise<Array<{ metric: Record<string, string>, value: number }>> {
  const query = expr.replaceAll('$job', 'memory-gateway').replaceAll('$instance', '.*')
    .replaceAll('$__rate_interval', '10s')
  for (;;) {
    const answer = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(query)}`).catch(() => undefined)
    if (answer?.status === 400) throw new Error(await answer.text())
    if (answer?.status !== 200) continue
    const { data: { result } } =
      await answer.json() as { data: { result: Array<{ metric: Record<string, string>, value: [number, string] }> } }
    if (result.length > 0) return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }))
  }
}

await t.test('Prometheus evaluates these panels to 0 on a gateway that has ' +
  'just started', { skip: hasPrometheus() ? false : 'prometheus is not installed', timeout: 60_000 }, async (t) => {
  const { app } = await testApp(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  const prometheus = await startPrometheus(t, `127.0.0.1:${port}`)
  for (const title of Object.keys(QUIET)) {
    const series = await evaluate(prometheus, expressions.get(title)!)
    t.ok(series.every(({ value }) => value === 0), `${title}: ${JSON.stringify(series)}`)
  }
})
