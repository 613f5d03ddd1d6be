import { availableParallelism, loadavg } from 'node:os'
import { printReport } from '../report-output.js'
import { runBench } from '../run-bench.js'
import type { Mode } from './client.js'
import { measureLoad, type Load } from './load.js'
import { readOptions, USAGE, type Options } from './options.js'
import { measurePairs, TOLD } from './pairs.js'
import { formatReport, type Report } from './report.js'
import { measureQualities } from './quality-report.js'
import { ScriptedModel } from './scripted-model.js'
import { measureOverhead } from './overhead.js'
import { loadName, targetsOf } from './targets.js'

const MODES: readonly Mode[] = ['plain', 'stream']

await runBench(async (args) => {
  const options = readOptions(args)
  if (options.quality !== undefined) return await measureQualities(options.quality, options.json)
  const before = loadavg()[0]!
  const model = await ScriptedModel.start()
  try {
    const overheads = options.parts.includes('overhead') ? await measureOverhead(model, options.calls) : []
    const loads = options.parts.includes('load') ? await measureLoads(model, options) : []
    const pairs: Array<Awaited<ReturnType<typeof measurePairs>>> = []
    for (const told of options.parts.includes('pairs') ? TOLD : []) {
      pairs.push(await measurePairs('mock', told), await measurePairs('local', told))
    }
    const targets = targetsOf(loads, overheads)
    const report: Report = {
      bench: 'reflect',
      concurrent: options.concurrent,
      model_ms: options.modelMs,
      max_concurrency: options.maxConcurrency,
      node: process.versions.node,
      cores: availableParallelism(),
      load_average: { before, after: loadavg()[0]! },
      loads,
      overheads,
      pairs: pairs.flatMap(({ figures }) => figures),
      failed_pairs: pairs.flatMap(({ failed }) => failed),
      targets,
    }
    await printReport(report, formatReport, options.json)
    if (options.check && targets.some(({ met }) => met === false)) process.exitCode = 1
  } finally {
    await model.stop()
  }
}, USAGE)

/** One load with time for all answers, and one with too little time for all. */
async function measureLoads (model: ScriptedModel, options: Options): Promise<Load[]> {
  const loads: Load[] = []
  for (const timeoutMs of [null, options.timeoutMs]) {
    for (const mode of MODES) {
      console.error(loadName({ mode, timeout_ms: timeoutMs }))
      loads.push(await measureLoad(model, mode, timeoutMs, options))
    }
  }
  return loads
}
