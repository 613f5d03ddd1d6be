import { parseArgs } from 'node:util'
import { UnusableInput } from '../checker.js'
import { printReport } from '../report-output.js'
import { runBench } from '../run-bench.js'
import { formatTable } from '../table.js'
import { measureConversations, type ConversationFigures } from './conversations.js'
import { missedFloors } from './floors.js'
import {
  figuresOf, HALVES, measureParaphrases, measurePairs, type KindFigures, type PairOutcome, type ParaphraseFigures,
} from './pairs.js'
import { measureCost, type Cost } from './cost.js'

const USAGE = `npm run bench:contradictions -- [--data FILE]... [--show N] [--held-out] [--check] [--json FILE]
  --data FILE  also counts the proposals in these conversations (a format of bench/README.md)
  --show N     prints so many proposals of each file, spread over it
  --held-out   also lists the wrong and the missed pairs of the half that was held out
  --check      exit code 1 when a figure is below its floor
  --json FILE  also writes the figures there`

interface Report {
  bench: 'contradictions'
  halves: Record<string, KindFigures[]>
  paraphrases: ParaphraseFigures[]
  wrong: PairOutcome[]
  missed: PairOutcome[]
  conversations: ConversationFigures[]
  cost: Cost[]
}

const share = (part: number, whole: number) => whole === 0 ? '–' : (part / whole).toFixed(2)

function format ({ halves, paraphrases, wrong, missed, conversations, cost }: Report, shown: number): string {
  const blocks = Object.entries(halves).map(([half, figures]) => formatTable([
    [half, 'pairs', 'found', 'recall', 'proposed', 'right', 'precision'],
    ...figures.map(({ kind, pairs, found, proposed, right }) => [
      kind, String(pairs), String(found), share(found, pairs), String(proposed), String(right), share(right, proposed),
    ]),
  ]))
  blocks.push(formatTable([
    ['pairs of bench:reflect', 'pairs', 'found', 'both stand', 'wrong'],
    ...paraphrases.map(({ half, pairs, found, both, wrong: wrongly }) => (
      [`${half} half`, ...[pairs, found, both, wrongly].map(String)]
    )),
  ]))
  const list = (title: string, outcomes: readonly PairOutcome[]) => [title, ...outcomes.map(
    ({ half, kind, said, later, proposed }) => `  ${half}, ${proposed ?? kind}: ${said} / ${later}`,
  )].join('\n')
  blocks.push(list(`Wrongly proposed: ${wrong.length}`, wrong), list(`Missed: ${missed.length}`, missed))
  for (const { data, turns, comparisons, proposals, ms_a_turn: ms } of conversations) {
    const step = Math.max(1, proposals.length / shown)
    const some = Array.from({ length: Math.min(shown, proposals.length) }, (_, at) => proposals[Math.floor(at * step)]!)
    blocks.push([
      `${data}: ${proposals.length} proposals in ${turns} turns (${(proposals.length / turns * 1000).toFixed(1)} of ` +
        `1,000), ${comparisons} comparisons, ${ms.toFixed(3)} ms a turn`,
      ...some.map(({ because, detail, speaker, said, later }) => (
        `  ${because} (${speaker ?? 'nobody'}): ${because === 'near_duplicate' ? `${said} / ${later}` : detail}`
      )),
    ].join('\n'))
  }
  blocks.push(formatTable([
    ['one memory and 20 candidates', 'ms'],
    ...cost.map(({ characters, ms }) => [`${characters} characters each`, ms.toFixed(3)]),
  ]))
  return blocks.join('\n\n')
}

await runBench(async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string', multiple: true, default: [] },
      show: { type: 'string', default: '0' },
      'held-out': { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  })
  if (!/^\d{1,4}$/.test(values.show)) throw new UnusableInput('--show must be a whole number up to 9999')
  const outcomes = await measurePairs()
  const listed = outcomes.filter(({ half }) => values['held-out'] || half === 'tuning')
  const conversations: ConversationFigures[] = []
  for (const path of values.data) conversations.push(await measureConversations(path))
  const halves = Object.fromEntries(HALVES.map((half) => (
    [half, figuresOf(outcomes.filter((one) => one.half === half))]
  )))
  const report: Report = {
    bench: 'contradictions',
    halves,
    paraphrases: await measureParaphrases(),
    wrong: listed.filter(({ supersedes, proposed }) => !supersedes && proposed !== undefined),
    missed: listed.filter(({ supersedes, proposed }) => supersedes && proposed === undefined),
    conversations,
    cost: measureCost(),
  }
  await printReport(report, (one) => format(one, Number(values.show)), values.json)
  const below = missedFloors(outcomes)
  if (values.check && below.length > 0) throw new UnusableInput(`Below the floors: ${below.join('; ')}`)
}, USAGE)
