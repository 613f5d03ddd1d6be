import { performance } from 'node:perf_hooks'
import type * as accessControl from '../../lib/access/access-control.js'
import type * as configSettings from '../../lib/config/config.js'
import { RecallRequest } from '../../lib/operations/schemas.js'
import type * as memoryService from '../../lib/operations/memory-service.js'
import { checker } from '../checker.js'
import { JsonClient } from '../json-client.js'
import { summarize, type LatencySummary } from '../percentiles.js'
import { bankOfSize, recallBodies } from './workloads.js'

const BANK_SIZE = 1000
const CALLS = 5000
const WARM_UP_CALLS = 1000
/** Calls of one kind before those of the other: noise of the machine affects both, and each has warm caches. */
const TURN = 50

export interface Overhead {
  calls: number
  http_ms: LatencySummary
  direct_ms: LatencySummary
  /** Differences of the percentiles above. */
  overhead_ms: { p50: number, p99: number }
}

/**
 * What HTTP adds to a recall: the same queries on the same bank of 1,000 memories, one after the other, once over a
 * kept-alive connection and once as calls of the built memory library in this process. The client's own work (write,
 * read, parse) counts as HTTP's.
 * @param url of a gateway whose bank of 1,000 is filled
 */
export async function measureOverhead (url: string): Promise<Overhead> {
  const { bankId, texts } = bankOfSize(BANK_SIZE)
  const service = await builtService()
  const context = { tenantId: null }
  await service.retainBatch({ bank_id: bankId, items: texts.map(({ text }) => ({ content: text })) }, context)
  const readRequest = checker(RecallRequest, 'a recall of the bench')
  const bodies = recallBodies(bankId, texts, CALLS + WARM_UP_CALLS, 5)
  const http: number[] = []
  const direct: number[] = []
  const client = new JsonClient(url)
  try {
    for (let from = 0; from < bodies.length; from += TURN) {
      const turn = bodies.slice(from, from + TURN)
      const counts = from >= WARM_UP_CALLS
      for (const body of turn) {
        const { durationMs } = await client.post('/v1/recall', body)
        if (counts) http.push(durationMs)
      }
      for (const body of turn) {
        const request = readRequest(JSON.parse(body))
        const started = performance.now()
        await service.recall(request, context)
        if (counts) direct.push(performance.now() - started)
      }
    }
  } finally {
    client.close()
    await service.close()
  }
  const [overHttp, called] = [summarize(http), summarize(direct)]
  return {
    calls: direct.length,
    http_ms: overHttp,
    direct_ms: called,
    overhead_ms: { p50: overHttp.p50 - called.p50, p99: overHttp.p99 - called.p99 },
  }
}

/** The same code that the gateway runs: dist/, not the sources as a loader would compile them. */
async function builtService () {
  const built = (path: string) => new URL(`../../dist/lib/${path}.js`, import.meta.url).href
  const { createMemoryService }: typeof memoryService = await import(built('operations/memory-service'))
  const { AccessControl }: typeof accessControl = await import(built('access/access-control'))
  const { settingsOf }: typeof configSettings = await import(built('config/config'))
  const file = { embedding_provider: 'mock' }
  const settings = settingsOf(file)
  const config = { file, settings, baseDirectory: process.cwd() }
  return await createMemoryService(config, new AccessControl(settings.access))
}
