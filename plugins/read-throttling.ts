import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { arrivalKeyOf } from '../http/turn-key.js'
import { turns } from '../lib/concurrency/turn-budget.js'

/** A connection on which a few bytes can cause much work. */
class ThrottledConnection {
  readonly #socket: Socket
  readonly #caller: string
  readonly #throttled: Set<ThrottledConnection>
  #isPaused = false

  /**
   * @param caller as in TurnBudget.next
   * @param all every open connection of this kind, in the order in which they get their turns
   */
  constructor (socket: Socket, caller: string, all: Set<ThrottledConnection>) {
    this.#socket = socket
    this.#caller = caller
    this.#throttled = all
    // The listener of Node's HTTP server comes before this one, so the data is parsed by now. A second listener also
    // makes Node read through the stream, which can be paused, and not directly from the handle.
    socket.on('data', this.#afterData)
    socket.on('resume', this.#pauseAgain)
    socket.once('close', () => { all.delete(this) })
    // Node is parsing the first chunk now, so the connection pauses before the next.
    this.#pause()
  }

  readonly #afterData = () => {
    if (!turns.isSpent) return
    // All connections pause, because data of the others would be parsed in this turn as well. The connection that was
    // read moves to the end of the order.
    this.#throttled.delete(this)
    for (const other of this.#throttled) other.#pause()
    if (!this.#socket.destroyed) this.#throttled.add(this)
    this.#pause()
  }

  #pause (): void {
    // Node resumes a connection that it has paused itself for back-pressure.
    if (this.#isPaused || this.#socket.isPaused()) return
    this.#isPaused = true
    this.#socket.pause()
    void turns.next(this.#caller).then(() => {
      this.#isPaused = false
      this.#socket.resume()
    })
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
  const all = new Set<ThrottledConnection>()
  app.addHook('onRequest', (request, { raw }, done) => {
    const { headers, socket } = request.raw
    // A response without the socket waits for an earlier one: the request is pipelined.
    if ((headers['transfer-encoding'] !== undefined || raw.socket === null) && !known.has(socket)) {
      known.add(socket)
      all.add(new ThrottledConnection(socket, arrivalKeyOf(request), all))
    }
    done()
  })
}

export default fp(readThrottling, { name: 'read-throttling', fastify: '5.x' })
