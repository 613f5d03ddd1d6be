import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { UnusableInput } from '../checker.js'
import { checkUrl } from '../database-url.js'
import { runBench } from '../run-bench.js'
import { MemorySource } from '../store/data.js'
import { BenchDatabase } from '../store/database.js'
import { type Curve, measureCurve } from './measure.js'
import { drawCurve } from './svg.js'

const KINDS = ['bank', 'banks'] as const

const USAGE = `npm run bench:curve -- --url URI --kind KIND --out NAME [options], or --draw NAME
  --url URI     URI of a PostgreSQL database with pgvector, whose role may create schemas
  --kind KIND   bank: one bank of 1,000 to 1,000,000 memories; banks: 10 to 100,000 banks of five memories
  --out NAME    writes NAME.json and NAME.svg; after each point, so that an interrupted run leaves its points
  --up-to N     the last point; default 1000000 memories, or 100000 banks
  --draw NAME   only draws NAME.svg of NAME.json`

await runBench(async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      url: { type: 'string' },
      kind: { type: 'string' },
      out: { type: 'string' },
      'up-to': { type: 'string' },
      draw: { type: 'string' },
    },
  })
  if (values.draw !== undefined) {
    const curve: Curve = JSON.parse(await readFile(`${values.draw}.json`, 'utf8'))
    await writeFile(`${values.draw}.svg`, drawCurve(curve))
    return
  }
  const { url, out } = values
  const kind = KINDS.find((name) => name === values.kind)
  if (url === undefined || out === undefined || kind === undefined) throw new UnusableInput(USAGE)
  const upTo = Number(values['up-to'] ?? (kind === 'bank' ? 1_000_000 : 100_000))
  if (!Number.isInteger(upTo) || upTo < 1) throw new UnusableInput(`--up-to must be a whole number\n\n${USAGE}`)
  const database = await BenchDatabase.create(checkUrl(url))
  console.error(`schema ${database.schema}; an interrupted run does not remove it`)
  try {
    await measureCurve(database, new MemorySource(kind === 'bank' ? 3 : 4), { url, kind, upTo }, async (curve) => {
      console.error(JSON.stringify(curve.points.at(-1)))
      await writeFile(`${out}.json`, `${JSON.stringify(curve, null, 2)}\n`)
      await writeFile(`${out}.svg`, drawCurve(curve))
    })
  } finally {
    await database.close({ keep: false })
  }
}, USAGE)
