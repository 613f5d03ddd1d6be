import { Counter, Gauge, type Registry } from 'prom-client'
import type { MemoryStatus } from '../../lib/memory/status.js'
import { PREFIX } from './instruments.js'

const BREAKER_STATES = { closed: 0, half_open: 1, open: 2 } as const

/** How things stand when somebody looks: the metrics that are set for each scrape anew. */
export class Standing {
  readonly #inFlight: Gauge
  readonly #breaker: Gauge<'kind'>
  readonly #tenantsOpen: Gauge<'kind'>
  readonly #running: Gauge<'kind'>
  readonly #waiting: Gauge<'kind'>
  readonly #hits: Counter<'cache'>
  readonly #misses: Counter<'cache'>
  readonly #pool: Gauge<'state'>
  readonly #vectors: Gauge

  constructor (registry: Registry) {
    const registers = [registry]
    const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) => new Gauge({ name: `${PREFIX}${name}`, help, labelNames, registers })
    const counter = (name: string, help: string) => new Counter({ name: `${PREFIX}${name}`, help, labelNames: ['cache'] as const, registers })
    this.#inFlight = gauge('http_requests_in_flight', 'Requests under way, this one too where it is served on the same port.')
    this.#breaker = gauge('breaker_state', 'Circuit breaker of a kind of model: 0 closed, 1 half-open, 2 open.', ['kind'])
    this.#tenantsOpen = gauge('breaker_tenants_open', 'Tenants whose own circuit is not closed.', ['kind'])
    this.#running = gauge('model_queue_running', 'Calls to a kind of model that are under way.', ['kind'])
    this.#waiting = gauge('model_queue_waiting', 'Calls to a kind of model that wait for a slot.', ['kind'])
    this.#hits = counter('cache_hits_total', 'Texts whose vectors were in memory.')
    this.#misses = counter('cache_misses_total', 'Texts whose vectors had to be made.')
    this.#pool = gauge('db_pool_connections', 'Database connections: size (at most), in_use, and callers waiting for one.', ['state'])
    this.#vectors = gauge('vectors_pending', 'Memories that are known to wait for their vectors.')
  }

  /** @param status undefined when it cannot be had: what it would tell is left out */
  set (inFlight: number, status: MemoryStatus | undefined): void {
    for (const metric of [this.#breaker, this.#tenantsOpen, this.#running, this.#waiting, this.#hits, this.#misses, this.#pool]) metric.reset()
    this.#inFlight.set(inFlight)
    this.#vectors.set(status?.vectorsPending ?? 0)
    for (const model of status?.models ?? []) this.#setModel(model)
    if (status?.pool === undefined) return
    const { size, inUse, waiting } = status.pool
    this.#pool.set({ state: 'size' }, size)
    this.#pool.set({ state: 'in_use' }, inUse)
    this.#pool.set({ state: 'waiting' }, waiting)
  }

  #setModel ({ kind, status: { breaker, running, waiting, cache } }: MemoryStatus['models'][number]): void {
    if (breaker !== undefined) {
      this.#breaker.set({ kind }, BREAKER_STATES[breaker.state])
      this.#tenantsOpen.set({ kind }, breaker.tenantsOpen)
    }
    if (running !== undefined) this.#running.set({ kind }, running)
    if (waiting !== undefined) this.#waiting.set({ kind }, waiting)
    if (cache !== undefined) {
      this.#hits.inc({ cache: kind }, cache.hits)
      this.#misses.inc({ cache: kind }, cache.misses)
    }
  }
}
