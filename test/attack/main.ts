import { writeFile } from 'node:fs/promises'
import { runBench } from '../../bench/run-bench.js'
import { measureImpact, type Impact } from './impact.js'
import { runGenerated } from './generated/run.js'
import { INPUTS } from './inputs/all.js'
import type { Input } from './inputs/input.js'
import { measureInput, type Result } from './measure.js'
import { readOptions, USAGE, type Options } from './options.js'
import { startIdleServer } from './probes.js'
import { formatImpacts, formatProgress, formatResults, formatSoaks } from './report.js'
import { soak, type Soak } from './soak.js'

await runBench(async (args) => {
  const options = readOptions(args, process.env)
  if (options.list) {
    for (const { name, about } of INPUTS) console.log(`${name}: ${about}`)
    return
  }
  const { results, table } = await run(options)
  console.log(table)
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(results, null, 1)}\n`)
  if (results.some(({ verdict }) => verdict.length > 0)) process.exitCode = 1
}, USAGE)

interface Ran {
  results: ReadonlyArray<{ verdict: readonly string[] }>
  table: string
}

async function run (options: Options): Promise<Ran> {
  if (options.soakMinutes !== undefined) return await soakAll(options, options.soakMinutes)
  if (options.impact) return await measureImpacts(options)
  const results = await attack(options)
  return { results, table: formatResults(results) }
}

function chosen ({ inputs }: Options): Input[] {
  return INPUTS.filter(({ name }) => inputs.includes(name))
}

async function measureImpacts (options: Options): Promise<Ran> {
  const results: Impact[] = []
  for (const store of options.stores) {
    for (const input of chosen(options)) {
      const result = await measureImpact(input, { store, heap: options.heap, databaseUrl: options.databaseUrl })
      console.error(formatImpacts([result]).split('\n').at(-1))
      results.push(result)
    }
  }
  return { results, table: formatImpacts(results) }
}

async function soakAll (options: Options, minutes: number): Promise<Ran> {
  const results: Soak[] = []
  for (const store of options.stores) {
    results.push(await soak(
      chosen(options), minutes, options.seed, { store, heap: options.heap, databaseUrl: options.databaseUrl },
      (line) => { console.error(line) },
    ))
  }
  return { results, table: formatSoaks(results) }
}

async function attack (options: Options): Promise<Result[]> {
  const { heap, databaseUrl } = options
  const idleServer = await startIdleServer()
  const results: Result[] = []
  try {
    for (const store of options.stores) {
      for (const input of chosen(options)) {
        const result = await measureInput(input, { store, heap, databaseUrl }, idleServer)
        console.error(formatProgress(result))
        results.push(result)
      }
      if (options.generated) {
        const generated = await runGenerated({ store, heap, databaseUrl }, options, idleServer)
        console.error(`${store}: ${generated.run} of ${generated.cases} requests that are generated from the OpenAPI ` +
          `document, seed ${options.seed}`)
        if (generated.slowest !== undefined) {
          const { name, worstMs } = generated.slowest
          console.error(`The longest block of those that passed is ${worstMs.toFixed(0)} ms: --cases ${
            JSON.stringify(name)}`)
        }
        for (const result of generated.results) console.error(formatProgress(result))
        results.push(...generated.results)
      }
    }
  } finally {
    await idleServer.stop()
  }
  return results
}
