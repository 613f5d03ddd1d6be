import { InMemoryVectorStore } from 'memory-gateway/lib/stores/in-memory/store.js'

/** The in-memory store, with a line on standard error for every search that takes long. */
export class LoggingVectorStore extends InMemoryVectorStore {
  #slowSearchMs

  /** @param config the map vector_store_config */
  constructor (config) {
    super()
    this.#slowSearchMs = config.slow_search_ms ?? 100
  }

  async search (request) {
    const start = performance.now()
    const result = await super.search(request)
    const duration = performance.now() - start
    if (duration > this.#slowSearchMs) {
      console.error(`slow search: ${duration.toFixed(1)} ms over ${request.banks.length} banks`)
    }
    return result
  }
}
