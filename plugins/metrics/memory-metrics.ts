import type { MemoryStatus } from '../../lib/operations/health.js'
import type { CollectedMetrics, Sample } from './collected-metrics.js'

type Model = MemoryStatus['models'][number]

const BREAKER_STATES = { closed: 0, half_open: 1, open: 2 } as const

/** Registers the metrics of the memory service: circuit breakers, model queues, caches and connections. */
export function registerMemoryMetrics (metrics: CollectedMetrics, status: () => MemoryStatus): void {
  const perModel = <Label extends 'kind' | 'cache'>(
    label: Label, valueOf: (status: Model['status']) => number | undefined,
  ) => (): Array<Sample<Label>> => (
      status().models.flatMap(({ kind, status }) => {
        const value = valueOf(status)
        return value === undefined ? [] : [{ labels: { [label]: kind } as Record<Label, string>, value }]
      })
    )

  metrics.gauge({
    name: 'breaker_state',
    help: 'Circuit breaker of a kind of model: 0 closed, 1 half-open, 2 open.',
    labelNames: ['kind'],
    read: perModel('kind', ({ breaker }) => breaker === undefined ? undefined : BREAKER_STATES[breaker.state]),
  })
  metrics.gauge({
    name: 'breaker_tenants_open',
    help: 'Tenants whose own circuit is not closed.',
    labelNames: ['kind'],
    read: perModel('kind', ({ breaker }) => breaker?.tenantsOpen),
  })
  metrics.gauge({
    name: 'model_queue_running',
    help: 'Calls to a kind of model that are in progress.',
    labelNames: ['kind'],
    read: perModel('kind', ({ running }) => running),
  })
  metrics.gauge({
    name: 'model_queue_waiting',
    help: 'Calls to a kind of model that wait for a slot.',
    labelNames: ['kind'],
    read: perModel('kind', ({ waiting }) => waiting),
  })
  metrics.counter({
    name: 'cache_hits_total',
    help: 'Texts whose vectors were in the cache.',
    labelNames: ['cache'],
    read: perModel('cache', ({ cache }) => cache?.hits),
  })
  metrics.counter({
    name: 'cache_misses_total',
    help: 'Texts whose vectors had to be computed.',
    labelNames: ['cache'],
    read: perModel('cache', ({ cache }) => cache?.misses),
  })
  metrics.gauge({
    name: 'db_pool_connections',
    help: 'Database connections: size (the maximum), in_use, and waiting (callers that wait for one).',
    labelNames: ['state'],
    read: () => poolSamples(status().pool),
  })
  metrics.gauge({
    name: 'limits_store_up',
    help: 'Whether the limits_store is reached; only with type: redis.',
    read: () => {
      const isUp = status().ratesUp
      return isUp === undefined ? [] : [{ value: isUp ? 1 : 0 }]
    },
  })
  metrics.gauge({
    name: 'vectors_pending',
    help: 'Memories that are known to wait for their vectors.',
    read: () => [{ value: status().vectorsPending ?? 0 }],
  })
}

function poolSamples (pool: MemoryStatus['pool']): Array<Sample<'state'>> {
  if (pool === undefined) return []
  return [
    { labels: { state: 'size' }, value: pool.size },
    { labels: { state: 'in_use' }, value: pool.inUse },
    { labels: { state: 'waiting' }, value: pool.waiting },
  ]
}
