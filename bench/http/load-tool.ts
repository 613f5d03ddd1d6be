import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The same kind of request, again and again. */
export interface Requests {
  url: string
  method: 'GET' | 'POST'
  /**
   * JSON, sent in turn; a tab in it (which the JSON never has otherwise) is replaced with a number unique to the
   * request.
   */
  bodies: readonly string[]
  connections: number
  seconds: number
}

export interface LoadResult {
  requests: number
  requests_per_second: number
  p50_ms: number
  p95_ms: number
  p99_ms: number
}

/** Sends requests as fast as they are answered. @throws Error when any answer is not 2xx or any connection fails */
export type LoadTool = (requests: Requests) => Promise<LoadResult>

export type LoadToolName = 'wrk' | 'autocannon'

/** wrk if installed: it is written in C, while autocannon needs more processor time than a fast route. */
export function chooseTool (): LoadToolName {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => isExecutable(join(folder, 'wrk')))
    ? 'wrk'
    : 'autocannon'
}

function isExecutable (path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

let unique = 0

/** Reserves numbers that no earlier run used, because a server treats a body that it has seen as a repeat. */
export function reserveNumbers (): number {
  unique += 1
  return unique * 1_000_000_000
}
