import { RecallAnswer, ReflectAnswer, RetainAnswer } from '../../lib/operations/schemas.js'
import { checker } from '../checker.js'
import type { JsonClient } from '../json-client.js'
import { Corpus, type Text } from './corpus.js'
import type { Recording } from './recordings.js'

export const ROUTES = ['retain', 'recall-1000', 'recall-10000', 'reflect-1000', 'live'] as const
export type Route = typeof ROUTES[number]

export const MAX_RESULTS = 10
/** Retains go to this many banks in turn: at 10,000 retains a second, five seconds leave 50 memories in each. */
const RETAIN_BANKS = 1000
const DIFFERENT_BODIES = 20_000
const BATCH = 500

/** One kind of request, ready to be measured. */
export interface Workload {
  route: Route
  method: 'GET' | 'POST'
  path: string
  /** The path of the bare server's counterpart. */
  barePath: string
  /** For one cell; retains of different cells go to different banks. */
  bodies (cell: string): string[]
  /** Removes the data that the cell left in the gateway, so that every cell measures the same server. */
  cleanUp (cell: string): Promise<void>
  /** One answer of the gateway, when the counterpart needs one. */
  recording?: Recording
}

const checkRecall = checker(RecallAnswer, 'the answer to a recall')
const checkReflect = checker(ReflectAnswer, 'the answer to a reflect')
const checkRetain = checker(RetainAnswer, 'the answer to a retain')

/** The bank of a size; its memories are the same in every run. */
export function bankOfSize (size: number): { bankId: string, texts: Text[] } {
  return { bankId: `bench-${size}`, texts: new Corpus(size).texts(size) }
}

export function recallBodies (bankId: string, texts: readonly Text[], count: number, seed: number): string[] {
  const corpus = new Corpus(seed)
  return Array.from({ length: count }, () => JSON.stringify({
    bank_id: bankId, query: corpus.query(texts), max_results: MAX_RESULTS,
  }))
}

/** Fills the banks that the routes need. */
export async function makeWorkloads (client: JsonClient, routes: readonly Route[]): Promise<Workload[]> {
  const workloads: Workload[] = []
  const filled = new Set<string>()
  for (const route of routes) {
    const size = sizeOf(route)
    if (size === undefined) {
      workloads.push(route === 'live' ? live() : await retain(client))
      continue
    }
    const { bankId, texts } = bankOfSize(size)
    if (!filled.has(bankId)) await fill(client, bankId, texts)
    filled.add(bankId)
    workloads.push(
      route === 'reflect-1000'
        ? await reflect(client, route, bankId, texts)
        : await recall(client, route, bankId, texts),
    )
  }
  return workloads
}

function sizeOf (route: Route): number | undefined {
  const digits = /-(\d+)$/.exec(route)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** Retains all of the texts in the bank. */
export async function fill (client: JsonClient, bankId: string, texts: readonly Text[]): Promise<void> {
  for (let from = 0; from < texts.length; from += BATCH) {
    const items = texts.slice(from, from + BATCH).map(({ text }) => ({ content: text }))
    await client.post('/v1/retain/batch', { bank_id: bankId, items })
  }
}

function live (): Workload {
  return { route: 'live', method: 'GET', path: '/live', barePath: '/live', bodies: () => [], cleanUp: async () => {} }
}

async function recall (client: JsonClient, route: Route, bankId: string, texts: readonly Text[]): Promise<Workload> {
  const bodies = recallBodies(bankId, texts, DIFFERENT_BODIES, 2)
  const answer = checkRecall((await client.post('/v1/recall', bodies[0]!)).body)
  if (answer.hits.length !== MAX_RESULTS) {
    throw new Error(`a recall in ${bankId} found ${answer.hits.length} memories, not ${MAX_RESULTS}`)
  }
  return {
    route,
    method: 'POST',
    path: '/v1/recall',
    barePath: `/${route}`,
    bodies: () => bodies,
    cleanUp: async () => {},
    recording: { path: `/${route}`, kind: 'recall', answer },
  }
}

async function reflect (client: JsonClient, route: Route, bankId: string, texts: readonly Text[]): Promise<Workload> {
  const corpus = new Corpus(3)
  const bodies =
    Array.from({ length: DIFFERENT_BODIES }, () => JSON.stringify({ bank_id: bankId, query: corpus.query(texts) }))
  const answer = checkReflect((await client.post('/v1/reflect', bodies[0]!)).body)
  if (answer.abstained) throw new Error(`a reflect in ${bankId} found nothing`)
  return {
    route,
    method: 'POST',
    path: '/v1/reflect',
    barePath: `/${route}`,
    bodies: () => bodies,
    cleanUp: async () => {},
    recording: { path: `/${route}`, kind: 'reflect', answer },
  }
}

async function retain (client: JsonClient): Promise<Workload> {
  const texts = new Corpus(4).texts(DIFFERENT_BODIES)
  const bankOf = (cell: string, index: number) => `bench-${cell}-${index % RETAIN_BANKS}`
  const forget = async (bankId: string) => { await client.post('/v1/forget', { bank_id: bankId, scope: 'all' }) }
  const answer = checkRetain(
    (await client.post('/v1/retain', { bank_id: bankOf('probe', 0), content: texts[0]!.text })).body,
  )
  await forget(bankOf('probe', 0))
  return {
    route: 'retain',
    method: 'POST',
    path: '/v1/retain',
    barePath: '/retain',
    // The load tool puts a running number where the tab is, so that no two contents are the same.
    bodies: (cell) => texts.map(({ text }, index) => `{"bank_id":"${bankOf(cell, index)}","content":"\t ${text}"}`),
    cleanUp: async (cell) => {
      for (let index = 0; index < RETAIN_BANKS; index++) await forget(bankOf(cell, index))
    },
    recording: { path: '/retain', kind: 'retain', answer },
  }
}
