import { basename } from 'node:path'
import { UnusableInput } from '../checker.js'
import { JsonClient } from '../json-client.js'
import { labelWithout, withoutAttributes, withSpeakerApart, type Attribute } from './attributes.js'
import { builtService } from './built-service.js'
import { loadConversations, partOf, type Conversation } from './conversation.js'
import { groupBy } from './figures.js'
import { measure } from './measure.js'
import { inProcess, overHttp } from './measured-service.js'
import type { Run } from './options.js'
import { choosePipeline, type Pipeline } from './pipelines.js'
import { makeReport, type Report } from './report.js'
import { embedderLabel, startSetting, type Setting, type StoreName } from './setting.js'

/** Data that have been read, for any number of measurements. */
export interface Data {
  /** The name of their file, and the part used. */
  name: string
  conversations: Conversation[]
}

/**
 * @param limit conversations at most, spread over their categories
 * @param omitted attributes that the memories are retained without
 * @param speakerField whether the speaker is a field instead of a name before the text
 * @throws UnusableInput when the data have no question to ask
 */
export async function loadData (
  path: string, limit?: number, omitted: readonly Attribute[] = [], speakerField = false,
): Promise<Data> {
  const read = await loadConversations(path)
  const all = speakerField ? withSpeakerApart(read) : read
  const conversations = limit === undefined ? all : partOf(all, limit)
  if (!conversations.some(({ questions }) => questions.length > 0)) {
    throw new UnusableInput(`${path} has no question with evidence that can be found`)
  }
  return {
    name: labelWithout([
      basename(path), ...(speakerField ? ['speaker as a field'] : []),
      ...(conversations.length < all.length ? [`${conversations.length} of ${all.length}`] : []),
    ].join(', '), omitted),
    conversations: withoutAttributes(conversations, omitted),
  }
}

const bankPrefix = () => `bench-${Date.now().toString(36)}-`

/** @param names how the report describes a server that the bench did not start */
export async function measureAt (
  url: string, { name, conversations }: Data, names: { pipeline: string, embedder: string, store: string },
): Promise<Report> {
  const client = new JsonClient(url)
  try {
    const [measurement] = await measure(overHttp(client), conversations, bankPrefix())
    return makeReport({ data: name, ...names }, measurement!)
  } finally {
    client.close()
  }
}

/** The built server, in a process of its own. */
export async function measureServer (data: Data, store: StoreName, { name, pipeline, embedder }: Run): Promise<Report> {
  const server = await startSetting({ store, pipeline: await choosePipeline(pipeline), embedder })
  try {
    return await measureAt(server.url, data, {
      pipeline: labelOf(name, pipeline), embedder: embedderLabel(embedder), store,
    })
  } finally {
    await server.stop()
  }
}

/**
 * The built library, in this process: runs that write the same memories share them. Reports come in the order of the
 * runs.
 */
export async function measureInProcess (data: Data, runs: readonly Run[]): Promise<Report[]> {
  const settings = await Promise.all(
    runs.map(async (run) => ({ run, pipeline: await choosePipeline(run.pipeline), embedder: run.embedder })),
  )
  const reports = new Map<Run, Report>()
  for (const group of groupBy(settings, writesOf).values()) {
    const { service, applySetting } = await builtService(group[0]!)
    try {
      const measurements = await measure(
        inProcess(service), data.conversations, bankPrefix(), group.map((setting) => () => { applySetting(setting) }),
      )
      group.forEach(({ run: { name, pipeline }, run, embedder }, index) => {
        const names = { pipeline: labelOf(name, pipeline), embedder: embedderLabel(embedder), store: 'in process' }
        reports.set(run, makeReport({ data: data.name, ...names }, measurements[index]!))
      })
    } finally {
      await service.close()
    }
  }
  return runs.map((run) => reports.get(run)!)
}

/**
 * The part of a setting that affects writes or is read only at the start: runs that differ in it cannot share memories.
 */
function writesOf ({
  pipeline: { retrieval = {} }, embedder,
}: { pipeline: Pipeline, embedder: Setting['embedder'] }): string {
  const { chunk_max_characters: chunk, weights } = retrieval
  return JSON.stringify([embedder, chunk, embedder.name === 'none' ? undefined : weights])
}

/** The name of a pipeline's file, without its folder and extension. */
function labelOf (name: string, pipeline: string): string {
  return name === pipeline ? basename(pipeline).replace(/\.ya?ml$/, '') : name
}
