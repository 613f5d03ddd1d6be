import t from 'tap'
import { streamOutcome } from '../../bench/reflect/client.js'
import { summarizeWave, type Load, type Wave } from '../../bench/reflect/load.js'
import { readOptions } from '../../bench/reflect/options.js'
import { formatReport } from '../../bench/reflect/report.js'
import type { Overhead } from '../../bench/reflect/overhead.js'
import { targetsOf } from '../../bench/reflect/targets.js'

const LIVE = { samples: 100, p50: 1, p99: 5, max: 20 }

function wave (fields: Partial<Wave> = {}): Wave {
  return {
    outcomes: { 200: 500 },
    p50_ms: 8000,
    max_ms: 16_000,
    late_ms: 0,
    rss_peak_mb: 200,
    after: { rss_mb: 150, heap_mb: 60 },
    ...fields,
  }
}

function load (waves: Wave[], fields: Partial<Load> = {}): Load {
  return {
    mode: 'plain',
    timeout_ms: 10_000,
    before: { rss_mb: 140, heap_mb: 60 },
    waves,
    live: { gateway: LIVE, model: LIVE },
    max_concurrent_model_calls: 64,
    ...fields,
  }
}

const latencies = (p50: number) => ({ p50, p95: 2 * p50, p99: 3 * p50 })
const overhead: Overhead = {
  mode: 'stream',
  calls: 10,
  model_calls_per_reflect: 1,
  reflect_ms: latencies(5),
  model_ms: latencies(1),
  overhead_ms: latencies(4),
  bare_ms: latencies(2),
}

await t.test('by default 500 reflects at a time meet a model of 2 s, three times', async (t) => {
  t.strictSame(readOptions([]), {
    parts: ['load', 'overhead', 'pairs'],
    concurrent: 500,
    modelMs: 2000,
    maxConcurrency: 64,
    timeoutMs: 10_000,
    waves: 3,
    calls: 1000,
    check: false,
    json: undefined,
  })
})

await t.test('options select what is measured and how much', async (t) => {
  const options = readOptions([
    '--only', 'overhead', '--concurrent', '20', '--model-ms', '0', '--waves=2', '--check', '--json', 'out.json',
  ])
  t.match(options, { parts: ['overhead'], concurrent: 20, modelMs: 0, waves: 2, check: true, json: 'out.json' })
})

await t.test('an unknown or impossible value is an error', async (t) => {
  t.throws(() => readOptions(['--nope']), { code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION' })
  t.throws(() => readOptions(['--only', 'load,speed']), { message: /speed is not known/ })
  t.throws(() => readOptions(['--waves', '1']), { message: /--waves.*from 2/ })
  t.throws(() => readOptions(['--max-concurrency', '257']), { message: /--max-concurrency.*to 256/ })
  for (const value of ['-1', 'x', '1.5', '']) {
    t.throws(() => readOptions([`--model-ms=${value}`]), { message: /--model-ms/ })
  }
})

await t.test('the last event of a stream says how it ended', async (t) => {
  const evidence = 'event: evidence\ndata: {"sources":[]}\n\n'
  t.equal(streamOutcome(`${evidence}event: done\ndata: {"answer":"A. [1]","abstained":false}\n\n`), '200')
  t.equal(
    streamOutcome(`${evidence}event: error\ndata: {"detail":"Late","code":"deadline_exceeded"}\n\n`),
    '200, then deadline_exceeded',
  )
})

await t.test('an incomplete stream and an answer without content end the bench', async (t) => {
  t.throws(() => streamOutcome('event: evidence\ndata: {"sources":[]}\n\n'), { message: /ended in the middle/ })
  t.throws(
    () => streamOutcome('event: done\ndata: {"answer":"None.","abstained":true}\n\n'), { message: /had no answer/ },
  )
})

await t.test('a wave counts its outcomes, and the delay of the latest one', async (t) => {
  const reflected = [
    { outcome: '200', durationMs: 2100 }, { outcome: '200', durationMs: 4100 },
    { outcome: '503 deadline_exceeded', durationMs: 10_030 },
  ]
  t.strictSame(summarizeWave(reflected, 10_000), {
    outcomes: { 200: 2, '503 deadline_exceeded': 1 }, p50_ms: 4100, max_ms: 10_030, late_ms: 30,
  })
  t.equal(summarizeWave(reflected, 60_000).late_ms, 0)
})

await t.test('targets are met at their limit and missed beyond it', async (t) => {
  const edge = targetsOf([
    load([wave(), wave({ rss_peak_mb: 240, late_ms: 250 })], { live: { gateway: { ...LIVE, max: 50 }, model: LIVE } }),
  ], [])
  t.strictSame(edge.map(({ met }) => met), [true, true, true, true])
  const beyond = targetsOf([load(
    [wave(), wave({ rss_peak_mb: 241, late_ms: 251, after: { rss_mb: 150, heap_mb: 73 } })],
    { live: { gateway: { ...LIVE, max: 51 }, model: LIVE } },
  )], [])
  t.strictSame(beyond.map(({ met }) => met), [false, false, false, false])
})

await t.test('memory that cannot be read is not judged, and the overhead has its own targets', async (t) => {
  const unread = wave({ rss_peak_mb: null })
  const [memory, , , , ofOverhead, calls] = targetsOf([load([unread, unread])], [overhead])
  t.match(memory, { measured: null, met: null })
  t.match(ofOverhead, { what: 'stream: the gateway\'s overhead per reflect, p50, ms', measured: 4, met: true })
  t.match(calls, { measured: 1, met: true })
  t.match(targetsOf([], [{ ...overhead, overhead_ms: latencies(10.1), model_calls_per_reflect: 1.1 }]), [
    { met: false }, { met: false },
  ])
})

await t.test('the report contains loads, liveness, overheads and targets', async (t) => {
  const loads = [load([wave(), wave({ outcomes: { 200: 320, '429 overloaded': 180 } })])]
  const text = formatReport({
    bench: 'reflect',
    concurrent: 500,
    model_ms: 2000,
    max_concurrency: 64,
    node: '20.20.2',
    cores: 2,
    load_average: { before: 1, after: 2 },
    loads,
    overheads: [overhead],
    pairs: [],
    failed_pairs: [],
    targets: targetsOf(loads, [overhead]),
  })
  for (const part of [
    'plain, 10000 ms each', '320 × 200; 180 × 429 overloaded', 'GET /live', 'overhead of the gateway',
    'memory at its peak',
  ]) {
    t.match(text, part)
  }
  t.notMatch(text, 'NaN')
})
