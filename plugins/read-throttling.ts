import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { turnKeyOf } from '../http/turn-key.js'
import { turns } from '../lib/concurrency/turn-budget.js'

/** A connection of which a few bytes may make much work. */
class ThrottledConnection {
  readonly #socket: Socket
  readonly #caller: string
  readonly #all: Set<ThrottledConnection>
  #isHeld = false

  /**
   * @param caller as in TurnBudget.next
   * @param all every such connection that is open; those that were held last come last
   */
  constructor (socket: Socket, caller: string, all: Set<ThrottledConnection>) {
    this.#socket = socket
    this.#caller = caller
    this.#all = all
    // Node's HTTP server has a listener before this one: what was read is parsed by now. A second one also lets it read
    // through the stream, of which what was read already can be held.
    socket.on('data', this.#afterData)
    socket.on('resume', this.#stayHeld)
    socket.once('close', () => { all.delete(this) })
    // What is being parsed now is the first piece.
    this.#hold()
  }

  readonly #afterData = () => {
    if (!turns.isSpent) return
    // All of them are held: what others have sent would be worked on in this turn as well. Who has had a piece comes
    // last.
    this.#all.delete(this)
    for (const other of this.#all) other.#hold()
    if (!this.#socket.destroyed) this.#all.add(this)
    this.#hold()
  }

  #hold (): void {
    // One that Node holds is let go on by Node: there is no room for what it would read.
    if (this.#isHeld || this.#socket.isPaused()) return
    this.#isHeld = true
    this.#socket.pause()
    void turns.next(this.#caller).then(() => {
      this.#isHeld = false
      this.#socket.resume()
    })
  }

  /** Node lets a connection go on for each part of a body that is taken. */
  readonly #stayHeld = () => {
    if (this.#isHeld) this.#socket.pause()
  }
}

/**
 * Reads connections in turns of the event loop where their bytes may make much work: bodies in chunks, of which each
 * may have one byte, and requests that are sent ahead. Node would read up to two megabytes of each such connection in
 * one turn, and work on all of it.
 */
async function readThrottling (app: FastifyInstance): Promise<void> {
  const known = new WeakSet<Socket>()
  const all = new Set<ThrottledConnection>()
  app.addHook('onRequest', (request, { raw }, done) => {
    const { headers, socket } = request.raw
    // An answer that has no connection yet waits for another.
    if ((headers['transfer-encoding'] !== undefined || raw.socket === null) && !known.has(socket)) {
      known.add(socket)
      all.add(new ThrottledConnection(socket, turnKeyOf(request), all))
    }
    done()
  })
}

export default fp(readThrottling, { name: 'read-throttling', fastify: '5.x' })
