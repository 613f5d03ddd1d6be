import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import type { Cluster } from './cluster.js'
import { untilReady } from './gateway.js'
import type { HttpClient } from './http-client.js'
import type { Load } from './load.js'
import type { RoundResult, Rounds } from './rounds.js'
import type { PatroniCluster } from './patroni.js'
import type { SmallDisk } from './small-disk.js'
import { BANK, type Write } from './writes.js'

const RESTARTS = 5
const TERMINATING_MS = 5000
const TERMINATE_EVERY_MS = 20
/**
 * For each of two fillings: bytes that the ballast leaves free, and refused writes to wait for. Many refusals also use
 * up the space of the log.
 */
const FILLINGS = [{ leave: 4 * 1024 * 1024, refusals: 30 }, { leave: 0, refusals: 500 }]
/** Time limit of a filling. */
const FILLING_LIMIT_MS = 60_000
const RECALLS = 20
/** Time limit for a gateway to recover by itself. */
const RECOVERY_LIMIT_MS = 60_000

/** The database crashes under load and restarts, several times; the gateway keeps running. */
export async function restartDatabase (rounds: Rounds, cluster: Cluster): Promise<RoundResult> {
  return await fault(rounds, 'the database is restarted (-m immediate)', async (load) => {
    const pauses: number[] = []
    for (let time = 0; time < RESTARTS; time++) {
      await rounds.keepLoaded(load)
      await cluster.crashAndRestart()
      pauses.push(await untilAcknowledged(load))
    }
    return `${RESTARTS} times; the first retain was acknowledged ${pauses.map((ms) => ms.toFixed(0)).join(', ')} ms ` +
      'after the database was back'
  })
}

/** Terminates busy backends one after another. */
export async function terminateBackends (rounds: Rounds, url: string): Promise<RoundResult> {
  return await fault(rounds, 'backends are terminated in the middle of a statement', async (load) => {
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    let terminated = 0
    try {
      const until = performance.now() + TERMINATING_MS
      while (performance.now() < until) {
        const ended = await sql`select pg_terminate_backend(pid) from (
          select pid from pg_stat_activity where application_name = 'memory-gateway' and state <> 'idle'
          order by random() limit 1
        ) as one`
        terminated += ended.length
        await delay(TERMINATE_EVERY_MS)
      }
    } finally {
      await sql.end()
    }
    await untilAcknowledged(load)
    return `${terminated} in ${TERMINATING_MS / 1000} s`
  })
}

/**
 * Fills the disk of the database twice, and frees the space each time.
 * @param restart restarts the database as an operator would, if it has ended; returns what was done
 */
export async function fillDisk (
  rounds: Rounds, disk: SmallDisk, restart: () => Promise<string> = async () => '',
): Promise<RoundResult> {
  return await fault(rounds, 'the disk is full', async (load) => {
    const notes: string[] = []
    for (const { leave, refusals } of FILLINGS) {
      await rounds.keepLoaded(load)
      const refused = load.count('refused')
      await disk.fill(leave)
      const filled = await until(() => load.count('refused') >= refused + refusals, FILLING_LIMIT_MS)
      const recalls = await recallStatuses(rounds.gateway.client)
      await disk.freeSpace()
      const restarted = await restart()
      const ms = await untilAcknowledged(load)
      notes.push(`${filled === undefined ? `fewer than ${refusals} refused; ` : ''}recall answered ${recalls} ` +
        `meanwhile; ${restarted}acknowledged again ${ms.toFixed(0)} ms after the disk had space again`)
    }
    return notes.join('. ')
  })
}

/**
 * The primary is killed with all that runs on its machine, or an operator orders a switchover; the gateway keeps
 * running. The killed node joins again before the read-back.
 */
export async function failOver (
  rounds: Rounds, cluster: PatroniCluster, how: 'kill' | 'switchover',
): Promise<RoundResult> {
  return await fault(rounds, how === 'kill' ? 'the primary is killed' : 'switchover', async (load) => {
    const recalls = pollRecalls(rounds.gateway.client)
    const first = load.writes.length
    const before = how === 'kill' ? await cluster.killPrimary() : await cluster.switchOver()
    await cluster.untilReplaced(before)
    await untilAcknowledged(load)
    await cluster.repair()
    await rounds.keepLoaded(load)
    const pause = longestPause(load.writes.slice(first))
    const slowest = Math.max(...load.writes.slice(first).map(({ durationMs }) => durationMs))
    return `no retain was acknowledged for ${seconds(pause)} s; the slowest answer took ${seconds(slowest)} s; ` +
      `recall answered ${await recalls()}`
  })
}

/** The longest time between two acknowledged retains. */
function longestPause (writes: readonly Write[]): number {
  const times = writes.filter(({ outcome }) => outcome.state === 'acknowledged').map(({ answeredAt }) => answeredAt)
  return times.reduce((longest, at, index) => Math.max(longest, index === 0 ? 0 : at - times[index - 1]!), 0)
}

/** Recalls again and again. @returns a function that ends it and tells the answers */
function pollRecalls (client: HttpClient): () => Promise<string> {
  const ending = new AbortController()
  let slowest = 0
  const counts = new Map<number, number>()
  const done = (async () => {
    while (!ending.signal.aborted) {
      const started = performance.now()
      // The gateway is killed at the end of a fault that it did not survive.
      const answer = await client.post('/v1/recall', { bank_id: BANK, query: 'meeting' }).catch(() => undefined)
      if (answer === undefined) return
      counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1)
      slowest = Math.max(slowest, performance.now() - started)
      await delay(20)
    }
  })()
  return async () => {
    ending.abort()
    await done
    const wrong = [...counts.keys()].filter((status) => status !== 200 && status !== 503)
    if (wrong.length > 0) throw new Error(`a recall was answered ${wrong.join(', ')}`)
    return `${[...counts].map(([status, count]) => `${status} (${count})`).join(' and ')}, the slowest after ` +
      `${seconds(slowest)} s`
  }
}

function seconds (ms: number): string {
  return (ms / 1000).toFixed(1)
}

/** Causes a fault of the database under continuing load, then also kills the gateway and verifies everything. */
async function fault (rounds: Rounds, name: string, causeFault: (load: Load) => Promise<string>): Promise<RoundResult> {
  const load = rounds.load(true)
  await rounds.keepLoaded(load)
  let note: string
  let failure: string | undefined
  try {
    note = await causeFault(load)
    await untilReady(rounds.gateway.client)
    await rounds.keepLoaded(load)
  } catch (error) {
    note = 'see the failure below'
    failure = error instanceof Error ? error.message : String(error)
  }
  const result = await rounds.verify(name, load)
  result.note = note
  if (failure !== undefined) result.examples.push(`the gateway did not recover by itself: ${failure}`)
  return result
}

/** @returns milliseconds until a retain that began after now is acknowledged, or close to it */
async function untilAcknowledged (load: Load): Promise<number> {
  // Retains in progress at the fault do not count: each client may have had one.
  const before = load.count('acknowledged') + load.clients
  const waited = await until(() => load.count('acknowledged') > before, RECOVERY_LIMIT_MS)
  if (waited === undefined) throw new Error(`no retain was acknowledged within ${RECOVERY_LIMIT_MS} ms`)
  return waited
}

async function until (condition: () => boolean, limitMs: number): Promise<number | undefined> {
  const started = performance.now()
  while (!condition()) {
    if (performance.now() - started > limitMs) return undefined
    await delay(10)
  }
  return performance.now() - started
}

/** @throws for an answer that is neither 200 nor 503 */
async function recallStatuses (client: HttpClient): Promise<string> {
  const counts = new Map<number, number>()
  for (let time = 0; time < RECALLS; time++) {
    const { status, text } = await client.post('/v1/recall', { bank_id: BANK, query: 'meeting' })
    if (status !== 200 && status !== 503) throw new Error(`a recall was answered ${status}: ${text.slice(0, 500)}`)
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  return [...counts].map(([status, count]) => `${status} (${count} of ${RECALLS})`).join(' and ')
}
