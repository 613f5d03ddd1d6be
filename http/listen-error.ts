/** An address that cannot be listened on; for the operator, and ends the start. */
export class ListenError extends Error {
  /** @param variables those that name the address */
  constructor (variables: string, host: string, port: number, cause: unknown) {
    const { code } = cause as NodeJS.ErrnoException
    const reason = code === 'EADDRINUSE' ? 'the port is in use' : code === 'EADDRNOTAVAIL' ? 'this machine has no such address' : cause instanceof Error ? cause.message : String(cause)
    super(`${variables}: cannot listen on ${host}, port ${port}: ${reason}`, { cause })
    this.name = 'ListenError'
  }
}

/** The address for a host's name: for localhost Fastify would open a second server on ::1, whose requests a graceful stop would not wait for. */
export function listenHost (host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host
}
