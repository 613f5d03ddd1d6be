import { writeFile } from 'node:fs/promises'
import { runBench } from '../../bench/run-bench.js'
import { measureBeside, type Beside } from './beside.js'
import { runFound } from './found/run.js'
import { INPUTS } from './inputs/all.js'
import type { Input } from './inputs/input.js'
import { measureInput, type Result } from './measure.js'
import { readOptions, USAGE, type Options } from './options.js'
import { startControl } from './probing.js'
import { formatBeside, formatProgress, formatResults, formatSoaks } from './report.js'
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
  if (options.beside) return await besideAll(options)
  const results = await attack(options)
  return { results, table: formatResults(results) }
}

function chosen ({ inputs }: Options): Input[] {
  return INPUTS.filter(({ name }) => inputs.includes(name))
}

async function besideAll (options: Options): Promise<Ran> {
  const results: Beside[] = []
  for (const store of options.stores) {
    for (const input of chosen(options)) {
      const result = await measureBeside(input, { store, heap: options.heap, databaseUrl: options.databaseUrl })
      console.error(formatBeside([result]).split('\n').at(-1))
      results.push(result)
    }
  }
  return { results, table: formatBeside(results) }
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
  const control = await startControl()
  const results: Result[] = []
  try {
    for (const store of options.stores) {
      for (const input of chosen(options)) {
        const result = await measureInput(input, { store, heap, databaseUrl }, control)
        console.error(formatProgress(result))
        results.push(result)
      }
      if (options.found) {
        const found = await runFound({ store, heap, databaseUrl }, options, control)
        console.error(`${store}: ${found.run} of ${found.cases} requests that were made from the OpenAPI document, seed ${options.seed}`)
        for (const result of found.results) console.error(formatProgress(result))
        results.push(...found.results)
      }
    }
  } finally {
    await control.stop()
  }
  return results
}
