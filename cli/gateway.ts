import { setTimeout as delay } from 'node:timers/promises'
// Imported by path, because the package of the gateway contains the built client and does not depend on its package.
import { MemoryGatewayClient, MemoryGatewayError, type CallOptions } from '../packages/client/src/index.js'
import type { ServerConnection } from '../mcp/caller.js'
import { messageOf } from '../lib/base/message-of.js'
import { codeOf, CommandError } from './failures.js'
import { note } from './output.js'

/** Milliseconds that a call may take with all attempts; for a stream, milliseconds without data. */
const TIMEOUT_MS = 120_000
/** A longer wait before another attempt is reported. */
const NOTABLE_WAIT_MS = 2000
/** The error codes when no server is reachable at the address. */
const UNREACHABLE_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND'])

/** The options of every call; Ctrl-C aborts it. */
export type Call = CallOptions & { signal: AbortSignal }

/** The client that commands use. It reports long waits, and does not retry an address that has never answered. */
export function openGateway (
  { url: baseUrl, ...credentials }: ServerConnection, interrupt: AbortSignal,
): { gateway: MemoryGatewayClient, call: Call } {
  const nobody = new AbortController()
  let isReached = false
  const gateway = new MemoryGatewayClient({
    baseUrl,
    ...credentials,
    timeoutMs: TIMEOUT_MS,
    fetch: async (input, init) => {
      try {
        const response = await fetch(input, init)
        isReached = true
        return response
      } catch (error) {
        // A gateway that has answered before probably restarts, so another attempt is made.
        const code = codeOf(causeOf(error))
        if (!isReached && code !== undefined && UNREACHABLE_CODES.has(code)) {
          nobody.abort(unreachable(baseUrl, code, error))
        }
        throw error
      }
    },
    timing: {
      sleep: async (milliseconds, signal) => {
        if (milliseconds >= NOTABLE_WAIT_MS) {
          note(`the gateway is busy; next attempt in ${Math.ceil(milliseconds / 1000)} s`)
        }
        await delay(milliseconds, undefined, { signal })
      },
    },
  })
  return { gateway, call: { signal: AbortSignal.any([interrupt, nobody.signal]) } }
}

/** Translates an error of a call for people; returns any other error unchanged. */
export function describeError (error: unknown, { url }: ServerConnection): unknown {
  if (!(error instanceof MemoryGatewayError)) return error
  const { code, message, status, requestId } = error
  if (code === 'connection_lost') return unreachable(url, reasonOf(error), error)
  if (code === 'timed_out') return new CommandError(`${url} did not answer in time`, undefined, error)
  if (code === 'unusable_answer') {
    return new CommandError(
      `the answer from ${url} is not that of a memory gateway (${message}); check MEMORY_GATEWAY_URL`, undefined, error,
    )
  }
  const request = requestId === undefined ? '' : `, request ${requestId}`
  const hint = hintOf(status, message)
  return new CommandError(`${message} (${code}${request})${hint}`, undefined, error)
}

function unreachable (url: string, reason: string, error: unknown): CommandError {
  const hint = UNREACHABLE_CODES.has(reason) ? '; start it with `memory-gateway serve`, or set MEMORY_GATEWAY_URL' : ''
  return new CommandError(`the connection to ${url} failed (${reason})${hint}`, undefined, error)
}

/** The innermost cause, because the error of fetch itself only says that it failed. */
function reasonOf (error: MemoryGatewayError): string {
  const cause = causeOf(error.cause) ?? error.cause
  return codeOf(cause) ?? (cause === undefined ? error.message : messageOf(cause))
}

function causeOf (error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined
}

function hintOf (status: number | undefined, message: string): string {
  if (status === 404 && message === 'No such route') {
    return '\nCheck MEMORY_GATEWAY_URL: it must be the address of the gateway without /v1'
  }
  return status === 401
    ? '\nSet MEMORY_GATEWAY_API_KEY with MEMORY_GATEWAY_PRINCIPAL, or MEMORY_GATEWAY_TOKEN, or use a profile: ' +
      'see docs/command-line.md'
    : ''
}
