import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { performance } from 'node:perf_hooks'
import { UnusableInput } from '../checker.js'
import { runBench } from '../run-bench.js'
import { formatTable } from '../table.js'
import { compare, formatComparison, pairReports } from './compare.js'
import { loadConversations } from './conversation.js'
import { checkFloor, formatFloors, isSkipped, readFloors, type FloorResult } from './floors.js'
import { formatLibrary, measureLibrary, type LibraryFigures } from './library.js'
import { markdownTable, overview, writeTable } from './markdown-table.js'
import { readOptions, USAGE, type Options } from './options.js'
import { choosePipeline } from './pipelines.js'
import { formatReport, readReports, runTitle, type Report } from './report.js'
import { loadData, measureAt, measureInProcess, measureServer, type Data } from './runs.js'

type Mode<M extends Options['mode']> = Extract<Options, { mode: M }>

async function run (options: Mode<'run'>): Promise<void> {
  const reports: Report[] = []
  for (const path of options.data) {
    const data = await loadData(path, options.limit, options.omitted, options.speakerField)
    for (const measureSome of stepsOf(options, data)) {
      const started = performance.now()
      const found = await measureSome()
      reports.push(...found)
      console.error(`${found.map(runTitle).join('; ')}: ${((performance.now() - started) / 1000).toFixed(1)} s`)
    }
  }
  const [first, ...more] = reports
  if (first !== undefined && more.length === 0) {
    const { outcomes: _, ...figures } = first
    console.log(`${formatReport(first)}\n\n${JSON.stringify(figures)}`)
  } else {
    console.log(formatTable(overview(reports)))
  }
  if (options.writeTo !== undefined) await writeTable(options.writeTo, markdownTable(reports))
  await writeJson(options.json, more.length === 0 ? first : reports)
}

/** A server is started for each run; in process, all runs on the same data are one step. */
function stepsOf (options: Mode<'run'>, data: Data): Array<() => Promise<Report[]>> {
  const served = 'as served'
  switch (options.at) {
    case 'url': return [
      async () => [await measureAt(options.url, data, { pipeline: served, embedder: served, store: served })],
    ]
    case 'process': return [async () => await measureInProcess(data, options.runs)]
    case 'server': return options.runs.map((one) => async () => [await measureServer(data, options.store, one)])
  }
}

async function compareRuns ({ a, b }: Mode<'compare'>): Promise<void> {
  const texts = pairReports(await readReports(a), await readReports(b)).map(
    ([one, other]) => formatComparison(one, other, compare(one, other)),
  )
  console.log(texts.join('\n\n'))
}

async function tabulate ({ reports: paths, writeTo }: Mode<'table'>): Promise<void> {
  const table = markdownTable((await Promise.all(paths.map(readReports))).flat())
  console.log(table)
  if (writeTo !== undefined) await writeTable(writeTo, table)
}

async function checkFloors ({ floors: path, store }: Mode<'floor'>): Promise<void> {
  const results: FloorResult[] = []
  for (const floor of await readFloors(path)) {
    if (isSkipped(floor)) {
      console.log(`skipped: ${floor.data} does not exist`)
      continue
    }
    const data = await loadData(floor.data, floor.part, floor.without)
    const overallOf = async (pipeline: string) => (
      (await measureServer(data, store, { name: pipeline, pipeline, embedder: { name: 'none' } })).overall
    )
    const plain = floor.not_below === undefined ? undefined : await overallOf(floor.not_below.pipeline)
    results.push(...checkFloor(floor, await overallOf('default'), plain))
  }
  console.log(formatFloors(results))
  const below = results.filter(({ holds }) => !holds)
  if (below.length > 0) {
    throw new UnusableInput(
      `Below the floor: ${below.map(({ data, figure, value, floor, origin }) => (
        `${figure} on ${basename(data)} is ${value.toFixed(4)}, ${origin} ${floor.toFixed(4)}`
      )).join('; ')}`,
    )
  }
}

async function timeLibrary ({ data, json, memories, pipeline: name }: Mode<'library'>): Promise<void> {
  const conversations = await loadConversations(data)
  const pipeline = await choosePipeline(name)
  const figures: LibraryFigures[] = []
  for (const size of memories) {
    figures.push(await measureLibrary(conversations, size, { pipeline, embedder: { name: 'none' } }))
  }
  const report = { bench: 'recall-library', data: basename(data), pipeline: pipeline.name, figures }
  console.log(`${formatLibrary(figures)}\n\n${JSON.stringify(report)}`)
  await writeJson(json, report)
}

async function writeJson (path: string | undefined, value: unknown): Promise<void> {
  if (path !== undefined) await writeFile(path, `${JSON.stringify(value)}\n`)
}

await runBench(async (args) => {
  const options = readOptions(args)
  switch (options.mode) {
    case 'run': return await run(options)
    case 'compare': return await compareRuns(options)
    case 'table': return await tabulate(options)
    case 'floor': return await checkFloors(options)
    case 'library': return await timeLibrary(options)
  }
}, USAGE)
