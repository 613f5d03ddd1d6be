import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { UnusableInput } from '../checked.js'
import { JsonClient } from '../json-client.js'
import { runBench } from '../run-bench.js'
import { compare, formatComparison } from './compare.js'
import { loadConversations } from './conversation.js'
import { checkFloor, formatFloors, readFloors, type FloorResult } from './floors.js'
import { formatLibrary, measureLibrary, type LibraryFigures } from './library.js'
import { markdownTables, writeTables } from './markdown-table.js'
import { measure } from './measure.js'
import { readOptions, USAGE, type Options } from './options.js'
import { choosePipeline } from './pipelines.js'
import { formatReport, makeReport, readReport, type Report } from './report.js'
import { embedderLabel, startSetting, type Setting } from './setting.js'

type Mode<M extends Options['mode']> = Extract<Options, { mode: M }>

/** @throws UnusableInput when the data have no question to ask */
async function measureAt (url: string, data: string, names: { pipeline: string, embedder: string, store: string }): Promise<Report> {
  const conversations = await loadConversations(data)
  const client = new JsonClient(url)
  try {
    const measurement = await measure(client, conversations, `bench-${Date.now().toString(36)}-`)
    if (measurement.outcomes.length === 0) throw new UnusableInput(`${data} has no question of category 1 to 4 with evidence`)
    return makeReport({ data: basename(data), ...names }, measurement)
  } finally {
    client.close()
  }
}

async function measureSetting (data: string, setting: Setting): Promise<Report> {
  const server = await startSetting(setting)
  try {
    return await measureAt(server.url, data, { pipeline: setting.pipeline.name, embedder: embedderLabel(setting.embedder), store: setting.store })
  } finally {
    await server.stop()
  }
}

async function run (options: Mode<'run'>): Promise<void> {
  const served = 'as served'
  const report = options.url === undefined
    ? await measureSetting(options.data, { ...options, pipeline: await choosePipeline(options.pipeline) })
    : await measureAt(options.url, options.data, { pipeline: served, embedder: served, store: served })
  const { outcomes: _, ...figures } = report
  console.log(`${formatReport(report)}\n\n${JSON.stringify(figures)}`)
  await writeJson(options.json, report)
}

async function compareRuns ({ a, b }: Mode<'compare'>): Promise<void> {
  const [one, other] = [await readReport(a), await readReport(b)]
  console.log(formatComparison(one, other, compare(one, other)))
}

async function tabulate ({ reports, writeTo }: Mode<'table'>): Promise<void> {
  const tables = markdownTables(await Promise.all(reports.map(readReport)))
  console.log(tables)
  if (writeTo !== undefined) await writeTables(writeTo, tables)
}

async function checkFloors ({ floors: path, store }: Mode<'floor'>): Promise<void> {
  const results: FloorResult[] = []
  const overallOf = async (data: string, pipeline: string) =>
    (await measureSetting(data, { store, pipeline: await choosePipeline(pipeline), embedder: { name: 'none' } })).overall
  for (const floor of await readFloors(path)) {
    const plain = floor.not_below === undefined ? undefined : await overallOf(floor.data, floor.not_below.pipeline)
    results.push(...checkFloor(floor, await overallOf(floor.data, 'default'), plain))
  }
  console.log(formatFloors(results))
  const below = results.filter(({ holds }) => !holds)
  if (below.length > 0) {
    throw new UnusableInput(`below the floor: ${below.map(({ data, figure, value, floor, origin }) => `${figure} on ${basename(data)} is ${value.toFixed(4)}, ${origin} ${floor.toFixed(4)}`).join('; ')}`)
  }
}

async function timeLibrary ({ data, json, memories, pipeline: name }: Mode<'library'>): Promise<void> {
  const conversations = await loadConversations(data)
  const pipeline = await choosePipeline(name)
  const figures: LibraryFigures[] = []
  for (const size of memories) figures.push(await measureLibrary(conversations, size, { pipeline, embedder: { name: 'none' } }))
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
