import { writeFile } from 'node:fs/promises'
import { availableParallelism, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { UnusableInput } from '../checker.js'
import { runBench } from '../run-bench.js'
import { formatTable } from '../table.js'
import { measureCost, type Cost } from './cost.js'
import { measureBackfill, type BackfillResult } from './backfill.js'
import { Texts } from './texts.js'

const USAGE = `npm run bench:vectors -- [--memories N] [--check] [--json FILE]
  --memories N  memories whose vectors are computed while recalls run; default 10000
  --check       exit code 1 when a target is missed
  --json FILE   also writes the figures there`

const DATA = ['own-conversation.json', 'own-conversation-2.json', 'own-assistant.json'].map((name) => (
  fileURLToPath(new URL(`../recall/${name}`, import.meta.url))
))
/**
 * Milliseconds of processor time for a text of 200 characters, and the factor by which recalls may be slower while
 * vectors are made.
 */
const TARGETS = { cpuMs: 10, ratio: 2 }

function format (
  costs: readonly Cost[], { quiet, busy, ratio, memories, seconds, cpu_ms: cpu, recalls }: BackfillResult,
): string {
  return [
    formatTable([
      ['characters', 'CPU ms', 'wall ms'],
      ...costs.map(({ characters, cpu_ms: used, wall_ms: wall }) => [
        String(characters), used.toFixed(1), wall.toFixed(1),
      ]),
    ]),
    formatTable([
      ['recall, ms', 'p50', 'p95', 'p99'],
      ...([['without a backfill', quiet], ['during the backfill', busy]] as const).map(
        ([name, { p50, p95, p99 }]) => [name, ...[p50, p95, p99].map((value) => value.toFixed(1))],
      ),
    ]),
    `${memories} memories got their vectors in ${seconds.toFixed(0)} s (${(memories / seconds).toFixed(0)} a ` +
      `second${cpu === undefined ? '' : `, ${cpu.toFixed(1)} ms of processor time each`}) beside ${recalls} recalls; ` +
      `p95 times ${ratio.toFixed(2)}`,
  ].join('\n\n')
}

await runBench(async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      memories: { type: 'string', default: '10000' },
      check: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  })
  if (!/^[1-9]\d{0,4}$/.test(values.memories)) {
    throw new UnusableInput('--memories must be a whole number from 1 to 99999')
  }
  const before = loadavg()[0]!
  const texts = await Texts.load(DATA)
  const costs = await measureCost(texts)
  const backfill = await measureBackfill(texts, Number(values.memories))
  const report = {
    bench: 'vectors',
    node: process.versions.node,
    cores: availableParallelism(),
    costs,
    backfill,
    load_average: { before, after: loadavg()[0]! },
  }
  const json = JSON.stringify(report)
  console.log(`${format(costs, backfill)}\n\n${json}`)
  if (values.json !== undefined) await writeFile(values.json, `${json}\n`)
  const missed = [
    ...costs.filter(({ characters, cpu_ms: used }) => characters === 200 && used > TARGETS.cpuMs)
      .map(({ cpu_ms: used }) => `${used.toFixed(1)} ms a text of 200 characters, ${TARGETS.cpuMs} at most`),
    ...backfill.ratio > TARGETS.ratio
      ? [`p95 times ${backfill.ratio.toFixed(2)} during the backfill, ${TARGETS.ratio} at most`]
      : [],
  ]
  if (values.check && missed.length > 0) throw new UnusableInput(`Targets missed: ${missed.join('; ')}`)
}, USAGE)
