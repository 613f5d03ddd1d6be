import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { UnusableInput } from '../checker.js'
import { loadConversations } from '../recall/conversation.js'
import { runBench } from '../run-bench.js'
import { COLUMNS, makeExamples } from './examples.js'
import { fitWeights, scoresOf, type Example, type FitOptions } from './softmax.js'
import { openCached } from './vector-cache.js'

const USAGE = `npm run fit:recall -- --data FILE [--data FILE …] [--embedder local --vectors FILE] [--test FILE …]
                      [--without NAME …] [--steps N] [--ridge X] [--ablate]
  --data FILE      conversations with questions, in any of the formats of docs/recall-quality.md; each is a fold
  --test FILE      conversations that are only measured, with the weights of all the data
  --embedder NAME  fits the semantic weight too, with the vectors of this provider
  --vectors FILE   caches those vectors there between runs
  --without NAME   leaves a scorer out
  --ablate         also leaves each scorer out in turn`

const DEPTH = 10

await runBench(async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string', multiple: true },
      test: { type: 'string', multiple: true },
      embedder: { type: 'string' },
      vectors: { type: 'string' },
      without: { type: 'string', multiple: true },
      steps: { type: 'string', default: '200' },
      ridge: { type: 'string', default: '0.001' },
      ablate: { type: 'boolean', default: false },
    },
  })
  if (values.data === undefined) throw new UnusableInput('--data is missing')
  const conversations = (await Promise.all(values.data.map(loadConversations))).flat()
  const embeddings = values.embedder === undefined ? undefined : await openCached(values.embedder, values.vectors)
  const examples = await makeExamples(conversations, Date.now(), embeddings)
  const tests = await Promise.all((values.test ?? []).map(async (file) => ({
    file, examples: await makeExamples(await loadConversations(file), Date.now(), embeddings),
  })))
  await embeddings?.close?.()
  const unused = new Set([...values.without ?? [], ...(embeddings === undefined ? ['semantic'] : [])])
  const options: FitOptions = {
    columns: columnsWithout(unused), steps: Number(values.steps), ridge: Number(values.ridge),
  }
  printRecall('all, leave-one-out', examples, leaveOneOut(examples, options))
  const weights = fitWeights(examples, COLUMNS.length, options)
  printRecall('all, in-sample', examples, examples.map((example) => scoresOf(example, COLUMNS.length, weights)))
  for (const { file, examples } of tests) {
    printRecall(basename(file), examples, examples.map((example) => scoresOf(example, COLUMNS.length, weights)))
  }
  const unit = weights[0]!
  console.log('\nweights beside a lexical weight of 1')
  COLUMNS.forEach((name, column) => { console.log(`  ${name.padEnd(16)} ${(weights[column]! / unit).toFixed(3)}`) })
  if (values.ablate) {
    for (const name of COLUMNS.slice(1)) {
      if (!unused.has(name)) {
        printRecall(`without ${name}`, examples, leaveOneOut(examples, {
          ...options, columns: columnsWithout(new Set([...unused, name])),
        }))
      }
    }
  }
}, USAGE)

function columnsWithout (names: ReadonlySet<string>): number[] {
  return COLUMNS.flatMap((name, column) => names.has(name) ? [] : [column])
}

/** Scores each conversation with weights fitted to the others. */
function leaveOneOut (examples: readonly Example[], options: FitOptions): Float64Array[] {
  const weights = new Map([...new Set(examples.map(({ group }) => group))].map((left) => (
    [left, fitWeights(examples.filter(({ group }) => group !== left), COLUMNS.length, options)]
  )))
  return examples.map((example) => scoresOf(example, COLUMNS.length, weights.get(example.group)!))
}

/** Prints recall@10: over all, by category, by conversation; averaged over questions, then over conversations. */
function printRecall (label: string, examples: readonly Example[], scores: readonly Float64Array[]): void {
  const groups = [...new Set(examples.map(({ group }) => group))]
  const recalls = examples.map(({ positives, wanted }, index) => {
    const order = [...scores[index]!.keys()].sort((a, b) => scores[index]![b]! - scores[index]![a]!)
    const first = new Set(order.slice(0, DEPTH))
    return positives.filter((row) => first.has(row)).length / wanted
  })
  const mean = (keep: (example: Example) => boolean) => {
    const means = groups.flatMap((group) => {
      const of = recalls.filter((_, index) => examples[index]!.group === group && keep(examples[index]!))
      return of.length === 0 ? [] : [of.reduce((sum, value) => sum + value, 0) / of.length]
    })
    return (means.reduce((sum, value) => sum + value, 0) / means.length).toFixed(4)
  }
  const categories = [...new Set(examples.map(({ category }) => category))].sort()
  const byCategory = categories.map((category) => `${category}: ${mean((example) => example.category === category)}`)
    .join(' ')
  console.log(`${label.padEnd(30)} recall@${DEPTH} ${mean(() => true)} | ${byCategory} | ` +
    `${groups.map((group) => mean((example) => example.group === group)).join(' ')}`)
}
