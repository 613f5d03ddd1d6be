import { collectDefaultMetrics, Registry } from 'prom-client'

let registry: Registry | undefined

/**
 * The registry of CPU, memory, garbage collection and the delay of the event loop since the last scrape
 * (`nodejs_eventloop_lag_*`). These belong to the process, which may hold several gateways, and their observers cannot
 * be stopped, so the registry is created once, at the first call.
 */
export function processRegistry (): Registry {
  if (registry === undefined) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry })
  }
  return registry
}
