import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { startServer, type RunningServer } from '../helpers/server.js'

const FIXTURE = fileURLToPath(new URL('../fixtures/gated-store.mjs', import.meta.url))

/** The server to which test/fixtures/gated-store.mjs connects. */
export class Gate {
  readonly #server: Server
  readonly #waiting: Socket[] = []

  private constructor (server: Server) {
    this.#server = server
    server.on('connection', (socket) => {
      // A server process that is ended breaks its connections.
      socket.on('error', () => {})
      this.#waiting.push(socket)
      server.emit('reached')
    })
  }

  static async open (t: Test): Promise<Gate> {
    const server = createServer({ allowHalfOpen: false })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const gate = new Gate(server)
    t.teardown(() => {
      for (const socket of gate.#waiting) socket.destroy()
      server.close()
    })
    return gate
  }

  get port (): number {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the gate has no port')
    return address.port
  }

  /** The connection of the next search or export that waits. */
  async next (): Promise<Socket> {
    while (this.#waiting.length === 0) await once(this.#server, 'reached')
    return this.#waiting.shift()!
  }
}

/** A built server on one of the stores of the fixture. */
export async function startGated (
  t: Test, storeClass: 'GatedStore' | 'WatchedStore', env: Record<string, string> = {},
): Promise<RunningServer & { gate: Gate }> {
  const gate = await Gate.open(t)
  const directory = t.testdir({
    'config.yaml': `vector_store: ${FIXTURE}:${storeClass}\nvector_store_config:\n  gate: ${gate.port}\n`,
  })
  const server = await startServer(t, { SERVICES_CONFIG_PATH: `${directory}/config.yaml`, ...env })
  return { ...server, gate }
}

/** Waits until the server has written something that matches. */
export async function written (server: Pick<RunningServer, 'process' | 'output'>, pattern: RegExp): Promise<void> {
  while (!pattern.test(server.output())) await once(server.process.stdout!, 'data')
}
