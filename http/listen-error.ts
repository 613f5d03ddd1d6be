const REASONS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the port is in use'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
])

/** The server cannot listen on its address, so it does not start. The message is for the operator. */
export class ListenError extends Error {
  /** @param variables those that name the address */
  constructor (variables: string, host: string, port: number, cause: unknown) {
    const { code } = cause as NodeJS.ErrnoException
    const other = cause instanceof Error ? cause.message : String(cause)
    const reason = (code === undefined ? undefined : REASONS.get(code)) ?? other
    super(`${variables}: cannot listen on ${host}, port ${port}: ${reason}`, { cause })
    this.name = 'ListenError'
  }
}

/**
 * The address for a host's name: for localhost Fastify would open a second server on ::1, whose requests a graceful
 * stop would not wait for.
 */
export function listenHost (host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host
}
