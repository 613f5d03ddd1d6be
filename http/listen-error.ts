const REASONS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the port is in use'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
])

/** The server cannot listen on its address, so it does not start. The message is for the operator. */
export class ListenError extends Error {
  /** @param variables the environment variables that set the address */
  constructor (variables: string, host: string, port: number, cause: unknown) {
    const { code } = cause as NodeJS.ErrnoException
    const other = cause instanceof Error ? cause.message : String(cause)
    const reason = (code === undefined ? undefined : REASONS.get(code)) ?? other
    super(`${variables}: cannot listen on ${host}, port ${port}: ${reason}`, { cause })
    this.name = 'ListenError'
  }
}

/**
 * The address to listen on. For `localhost` Fastify opens a second server on ::1, and a graceful stop does not wait for
 * the requests of that one, so it becomes 127.0.0.1.
 */
export function listenHost (host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host
}
