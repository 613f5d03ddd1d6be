import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { SCORER_TABLE } from '../../lib/config/scorer-table.js'
import { UnusableInput } from '../checker.js'
import { runBench } from '../run-bench.js'
import { formatTable } from '../table.js'
import { builtService } from './built-service.js'
import { figuresOf, type Figures } from './figures.js'
import { measure } from './measure.js'
import { inProcess } from './measured-service.js'
import { loadData, type Data } from './runs.js'

const USAGE = `npx tsx bench/recall/leave-one-corpus-out.ts --data FILE --data FILE … [--test FILE …]
Leave-one-corpus-out validation: tunes the defaults on all corpora but one and measures them on the one that
is left out.
Needs the built gateway (npm run build).
  --data FILE      a corpus to tune on, which is also left out in turn
  --test FILE      a corpus that is only measured`

type Values = Readonly<Record<string, number>>

/** Each weight is tried at these multiples of its default, with the others unchanged. */
const MULTIPLES = [0, 0.5, 0.75, 1.25, 1.5, 2]
/** The smallest gain that counts; a smaller one may be due to the choice of questions. */
const MIN_GAIN = 0.002

const DEFAULTS: Values = {
  pivot: 25,
  k1: 0.9,
  diversity: 0.1,
  ...Object.fromEntries(Object.entries(SCORER_TABLE).map(([name, { weight }]) => [name, weight])),
}
/** They require vectors, which are not used here. */
const FIXED = new Set(['document_meaning', 'question_meaning'])
/** BM25 needs a pivot and a saturation above 0. */
const ALWAYS_POSITIVE = new Set(['pivot', 'k1'])

const EMBEDDER = { name: 'none' }

function settingOf (
  { pivot, k1, diversity, ...scorers }: Values,
): { pipeline: { name: string, retrieval: Record<string, unknown> }, embedder: typeof EMBEDDER } {
  return {
    pipeline: { name: 'leave-one-corpus-out', retrieval: { bm25: { pivot, k1 }, diversity, scorers } },
    embedder: EMBEDDER,
  }
}

async function measureAll ({ conversations }: Data, settings: readonly Values[]): Promise<Figures[]> {
  const { service, applySetting } = await builtService(settingOf(DEFAULTS))
  try {
    const measurements = await measure(
      inProcess(service), conversations, 'leave-one-out-',
      settings.map((values) => () => { applySetting(settingOf(values)) }),
    )
    return measurements.map(({ outcomes }) => figuresOf(outcomes))
  } finally {
    await service.close()
  }
}

function qualityOf ({ recall_at_10: recall, ndcg_at_10: ndcg }: Figures): number {
  return (recall + ndcg) / 2
}

interface Change {
  name: string
  value: number
}

const TUNED = Object.entries(DEFAULTS).filter(([name]) => !FIXED.has(name))
const CHANGES: readonly Change[] = TUNED.flatMap(([name, value]) => (
  MULTIPLES.filter((multiple) => multiple > 0 || !ALWAYS_POSITIVE.has(name))
    .map((multiple) => ({ name, value: value * multiple }))
))

/** @param gains of each change, averaged over the data used for tuning; @returns the best value of each weight */
function tuned (gains: readonly number[]): Values {
  const values: Record<string, number> = { ...DEFAULTS }
  const best = new Map<string, number>()
  for (const [index, { name, value }] of CHANGES.entries()) {
    const gain = gains[index]!
    if (gain < MIN_GAIN || gain <= (best.get(name) ?? 0)) continue
    best.set(name, gain)
    values[name] = value
  }
  return values
}

await runBench(async (args) => {
  const { values } = parseArgs({
    args, options: { data: { type: 'string', multiple: true }, test: { type: 'string', multiple: true, default: [] } },
  })
  const paths = values.data ?? []
  if (paths.length < 2) throw new UnusableInput('--data must be given at least twice')
  const corpora = await Promise.all(paths.map(async (path) => await loadData(path)))
  const gainsOf = new Map<string, number[]>()
  for (const data of corpora) {
    const [base, ...changed] =
      await measureAll(data, [DEFAULTS, ...CHANGES.map(({ name, value }) => ({ ...DEFAULTS, [name]: value }))])
    gainsOf.set(data.name, changed.map((figures) => qualityOf(figures) - qualityOf(base!)))
    console.error(`measured ${data.name}`)
  }
  const without = (left: string | undefined): Values => {
    const others = corpora.filter(({ name }) => name !== left)
    return tuned(
      CHANGES.map((_, index) => others.reduce((sum, { name }) => sum + gainsOf.get(name)![index]!, 0) / others.length),
    )
  }
  const rows: string[][] = [['data', 'default', 'tuned on the others', 'changed weights']]
  const measured = [
    ...corpora.map((data) => ({ data, values: without(data.name) })),
    ...await Promise.all(values.test.map(async (path) => ({ data: await loadData(path), values: without(undefined) }))),
  ]
  for (const { data, values } of measured) {
    const figures = await measureAll(data, [DEFAULTS, values])
    const changes = Object.entries(values).filter(([name, value]) => value !== DEFAULTS[name]).map(
      ([name, value]) => `${name} ${value.toFixed(2)}`,
    )
    rows.push([
      basename(data.name),
      ...figures.map(({ recall_at_10: recall, ndcg_at_10: ndcg }) => `${percent(recall)} (${percent(ndcg)})`),
      changes.join(', '),
    ])
  }
  console.log(`recall@10 (nDCG@10) in per cent\n${formatTable(rows)}`)
}, USAGE)

function percent (share: number): string {
  return (100 * share).toFixed(1)
}
