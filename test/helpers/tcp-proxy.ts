import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Test } from 'tap'

interface Pair {
  client: Socket
  server: Socket
}

/**
 * What becomes of a connection whose client sends the words: cut before the database has them, or when it has answered
 * them.
 */
interface Trap {
  words: string
  when: 'before' | 'answered'
  sprung: () => void
}

/**
 * A network between a driver and its database that does what a test says. At the beginning it lets everything through.
 */
export class TcpProxy {
  readonly #target: { host: string, port: number }
  readonly #pairs = new Set<Pair>()
  readonly #accepted = new Set<Socket>()
  readonly #waiting: Array<() => void> = []
  #server: Server | undefined
  #port = 0
  #silent = false
  #latencyMs = 0
  #trap: Trap | undefined

  constructor (target: { host: string, port: number }) {
    this.#target = target
  }

  get port (): number {
    return this.#port
  }

  /** Connections that are open. */
  get size (): number {
    return this.#accepted.size
  }

  /** Lets new connections through from here on; those that were silenced stay so. */
  async pass (): Promise<void> {
    this.#silent = false
    if (this.#server !== undefined) return
    const server = createServer({ allowHalfOpen: false }, (client) => { this.#accept(client) })
    server.listen(this.#port, '127.0.0.1')
    await once(server, 'listening')
    this.#server = server
    this.#port = (server.address() as AddressInfo).port
  }

  /** Cuts the open connections and stops listening, so that the port is closed. */
  async refuse (): Promise<void> {
    this.listenNoMore()
    const closed = [...this.#accepted].map(async (socket) => { await once(socket, 'close') })
    this.cut()
    await Promise.all(closed)
  }

  /** New connections are refused, and open ones stay. */
  listenNoMore (): void {
    const server = this.#server
    this.#server = undefined
    // It stops listening at once; its close event would wait for what is open.
    server?.close()
  }

  /** Accepts connections and never answers; open ones pass no further byte in either direction. */
  silence (): void {
    this.#silent = true
    for (const { client, server } of this.#pairs) {
      client.pause()
      server.pause()
    }
  }

  /** Ends the open connections without a message, as a network does. */
  cut (): void {
    for (const socket of this.#accepted) socket.resetAndDestroy()
  }

  /** Each piece of data takes this long. */
  delay (milliseconds: number): void {
    this.#latencyMs = milliseconds
  }

  /** Cuts the first connection whose client sends the words. @returns settles when that has happened */
  trap (words: string, when: Trap['when']): Promise<void> {
    return new Promise((resolve) => { this.#trap = { words, when, sprung: resolve } })
  }

  /** Settles when the next connection has come. */
  async nextConnection (): Promise<void> {
    await new Promise<void>((resolve) => { this.#waiting.push(resolve) })
  }

  #accept (client: Socket): void {
    this.#accepted.add(client)
    client.on('close', () => { this.#accepted.delete(client) })
    client.on('error', () => {})
    for (const told of this.#waiting.splice(0)) told()
    if (this.#silent) {
      client.pause()
      return
    }
    const pair: Pair = { client, server: connect(this.#target) }
    this.#pairs.add(pair)
    const { server } = pair
    let answerLost: (() => void) | undefined
    client.on('data', (data) => {
      const trap = this.#trap
      if (trap !== undefined && data.includes(trap.words)) {
        this.#trap = undefined
        if (trap.when === 'before') {
          client.resetAndDestroy()
          trap.sprung()
          return
        }
        answerLost = trap.sprung
      }
      this.#forward(pair, server, data)
    })
    server.on('data', (data) => {
      if (answerLost === undefined) this.#forward(pair, client, data)
      else {
        client.resetAndDestroy()
        answerLost()
      }
    })
    const end = () => {
      this.#pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    server.on('error', end)
    server.on('close', end)
    client.on('close', end)
  }

  #forward (pair: Pair, to: Socket, data: Buffer): void {
    const write = () => { if (this.#pairs.has(pair) && !to.destroyed) to.write(data) }
    if (this.#latencyMs === 0) write()
    else setTimeout(write, this.#latencyMs)
  }
}

/** @returns the proxy and the URI with which a driver goes through it; closed when the test ends */
export async function tcpProxy (t: Test, databaseUrl: string): Promise<{ proxy: TcpProxy, url: string }> {
  const parsed = new URL(databaseUrl)
  const proxy = new TcpProxy({ host: parsed.hostname, port: Number(parsed.port === '' ? 5432 : parsed.port) })
  await proxy.pass()
  t.teardown(async () => { await proxy.refuse() })
  parsed.hostname = '127.0.0.1'
  parsed.port = String(proxy.port)
  return { proxy, url: parsed.href }
}
