/** The part of autocannon that the bench uses; the package has no types. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events'

  interface Request {
    method: string
    headers: Record<string, string>
    body?: string
    setupRequest?: (request: Request) => Request
  }

  interface Options {
    url: string
    connections: number
    duration: number
    timeout: number
    requests: Request[]
  }

  interface Result {
    /** Seconds. */
    duration: number
    errors: number
    timeouts: number
    non2xx: number
  }

  interface Instance extends EventEmitter, PromiseLike<Result> {}

  export default function autocannon (options: Options): Instance
}
