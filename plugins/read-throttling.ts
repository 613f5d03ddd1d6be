import { Socket } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { arrivalKeyOf } from '../http/turn-key.js'
import { Semaphore } from '../lib/concurrency/semaphore.js'
import { turns } from '../lib/concurrency/turn-budget.js'

/** A connection is costly when parsing the data of one read took longer than this, in milliseconds. */
const COSTLY_MS = 2
/** Length of the pause after a costly read, as a multiple of the time that parsing took. */
const PAUSE_FACTOR = 3

/** The open connections on which a few bytes can cause much work. */
class ThrottledConnections {
  /** In the order in which they get their turns. */
  readonly all = new Set<ThrottledConnection>()
  readonly #costly = new Semaphore({ permits: 1, timeoutError: () => new Error('The wait has no bound') })

  /**
   * Reads one costly connection at a time, with a pause after each, so that others are served meanwhile.
   * @param caller whose turn it is: callers take turns
   */
  async readCostly (caller: string, read: () => Promise<number>): Promise<void> {
    await this.#costly.run(async () => {
      const ms = await read()
      if (ms > COSTLY_MS) await setTimeout(PAUSE_FACTOR * ms, undefined, { ref: false })
    }, { flow: [caller] })
  }
}

class ThrottledConnection {
  readonly #socket: Socket
  readonly #caller: string
  readonly #connections: ThrottledConnections
  #isPaused = false
  /** When the parser received the last data, and how long it worked on it, in milliseconds. */
  #readAt = performance.now()
  #readMs = 0

  /** @param caller as in TurnBudget.next */
  constructor (socket: Socket, caller: string, connections: ThrottledConnections) {
    this.#socket = socket
    this.#caller = caller
    this.#connections = connections
    // A listener also makes Node read through the stream, which can be paused, and not directly from the handle.
    socket.prependListener('data', () => { this.#readAt = performance.now() })
    // The listener of Node's HTTP server comes before this one, so the data is parsed by now.
    socket.on('data', this.#afterData)
    socket.on('resume', this.#pauseAgain)
    socket.once('close', () => { connections.all.delete(this) })
    // Node is parsing the first data now.
    process.nextTick(() => {
      this.#readMs = performance.now() - this.#readAt
      this.#pause()
    })
  }

  readonly #afterData = () => {
    this.#readMs = performance.now() - this.#readAt
    if (!turns.isExhausted && this.#readMs <= COSTLY_MS) return
    // All connections pause, because data of the others would be parsed in this turn as well. The connection that was
    // read moves to the end of the order.
    const { all } = this.#connections
    all.delete(this)
    for (const other of all) other.#pause()
    if (!this.#socket.destroyed) all.add(this)
    this.#pause()
  }

  #pause (): void {
    // Node resumes a connection that it has paused itself for back-pressure.
    if (this.#isPaused || this.#socket.isPaused()) return
    this.#isPaused = true
    this.#socket.pause()
    if (this.#readMs > COSTLY_MS) void this.#connections.readCostly(this.#caller, this.#readNext)
    else void this.#resume()
  }

  async #resume (): Promise<void> {
    await turns.next(this.#caller)
    this.#isPaused = false
    this.#socket.resume()
  }

  /** @returns how many milliseconds the parser worked; 0 when there was nothing to read */
  readonly #readNext = async (): Promise<number> => {
    this.#readMs = 0
    await this.#resume()
    // What has arrived is read in the turn after the next.
    await setImmediate()
    await setImmediate()
    return this.#readMs
  }

  /** Node resumes a connection whenever a chunk of its body is consumed, so it is paused again. */
  readonly #pauseAgain = () => {
    if (this.#isPaused) this.#socket.pause()
  }
}

/**
 * Reads connections in turns of the event loop where few bytes can cause much work: bodies with chunked encoding, whose
 * chunks may have one byte each, and pipelined requests. Node by itself reads up to two megabytes of each such
 * connection in one turn, and processes all of it.
 */
async function readThrottling (app: FastifyInstance): Promise<void> {
  const known = new WeakSet<Socket>()
  const throttled = new ThrottledConnections()
  app.addHook('onRequest', (request, { raw }, done) => {
    const { headers, socket } = request.raw
    // The connection of a request that `app.inject` makes is an imitation without data to read.
    if (!(socket instanceof Socket)) return done()
    // A response without the socket waits for an earlier one: the request is pipelined.
    if ((headers['transfer-encoding'] !== undefined || raw.socket === null) && !known.has(socket)) {
      known.add(socket)
      throttled.all.add(new ThrottledConnection(socket, arrivalKeyOf(request), throttled))
    }
    done()
  })
}

export default fp(readThrottling, { name: 'read-throttling', fastify: '5.x' })
