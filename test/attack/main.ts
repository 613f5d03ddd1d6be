import { writeFile } from 'node:fs/promises'
import { runBench } from '../../bench/run-bench.js'
import { runFound } from './found/run.js'
import { INPUTS } from './inputs/all.js'
import { measureInput, type Result } from './measure.js'
import { readOptions, USAGE, type Options } from './options.js'
import { startControl } from './probing.js'
import { formatProgress, formatResults } from './report.js'

await runBench(async (args) => {
  const options = readOptions(args, process.env)
  if (options.list) {
    for (const { name, about } of INPUTS) console.log(`${name}: ${about}`)
    return
  }
  const results = await attack(options)
  console.log(formatResults(results))
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(results, null, 1)}\n`)
  if (results.some(({ verdict }) => verdict.length > 0)) process.exitCode = 1
}, USAGE)

async function attack (options: Options): Promise<Result[]> {
  const { heap, databaseUrl } = options
  const control = await startControl()
  const results: Result[] = []
  try {
    for (const store of options.stores) {
      for (const input of INPUTS.filter(({ name }) => options.inputs.includes(name))) {
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
