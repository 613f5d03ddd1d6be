import { collectDefaultMetrics, Registry } from 'prom-client'

let registry: Registry | undefined

/**
 * CPU, memory, garbage collection and the delay of the event loop (`nodejs_eventloop_lag_*`, of the time since the last
 * scrape). They are the process's and not a gateway's, and what observes them is never stopped: so there is one of
 * them, begun by the first who asks.
 */
export function processRegistry (): Registry {
  if (registry === undefined) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry })
  }
  return registry
}
