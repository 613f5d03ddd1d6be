import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { turns } from '../lib/turn-budget.js'
import { turnKeyOf } from './body-reader.js'

/** New connections of a crowd that are let go on in one turn of the event loop, and in one that has done its share. */
const NEW_PER_TURN = 16
const NEW_PER_SPENT_TURN = 4

/** A connection of which a few bytes may make much work. */
class PacedConnection {
  readonly #socket: Socket
  readonly #caller: string
  readonly #all: Set<PacedConnection>
  #isHeld = false

  /**
   * @param caller as in TurnBudget.next
   * @param all every such connection that is open; those that were held last come last
   */
  constructor (socket: Socket, caller: string, all: Set<PacedConnection>) {
    this.#socket = socket
    this.#caller = caller
    this.#all = all
    // Node's HTTP server has a listener before this one: what was read is parsed by now. A second one also lets it read through the
    // stream, of which what was read already can be held.
    socket.on('data', this.#afterData)
    socket.on('resume', this.#stayHeld)
    socket.once('close', () => { all.delete(this) })
    // What is being parsed now is the first piece.
    this.#hold()
  }

  readonly #afterData = () => {
    if (!turns.isSpent) return
    // All of them are held: what others have sent would be worked on in this turn as well. Who has had a piece comes last.
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

/** Connections of which nothing has been read. When the first of a crowd of them fill a turn, the others are let go on a few a turn. */
class NewConnections {
  readonly #unread = new Set<Socket>()
  readonly #held = new Set<Socket>()

  add (socket: Socket): void {
    this.#unread.add(socket)
    socket.once('close', () => {
      this.#unread.delete(socket)
      this.#held.delete(socket)
    })
  }

  /** Takes one of which a request was read. */
  remove (socket: Socket): void {
    this.#unread.delete(socket)
    if (this.#unread.size === 0 || !turns.isSpent) return
    if (this.#held.size === 0) setImmediate(this.#letGo)
    for (const other of this.#unread) {
      other.pause()
      this.#held.add(other)
    }
    this.#unread.clear()
  }

  readonly #letGo = () => {
    let left = turns.isSpent ? NEW_PER_SPENT_TURN : NEW_PER_TURN
    for (const socket of this.#held) {
      if (left-- === 0) break
      this.#held.delete(socket)
      this.#unread.add(socket)
      socket.resume()
    }
    if (this.#held.size > 0) setImmediate(this.#letGo)
  }
}

/**
 * Reads connections in turns of the event loop where their bytes may make much work: those that are new and come in a crowd, bodies in
 * chunks, of which each may have one byte, and requests that are sent ahead. Node would read up to two megabytes of each such connection
 * in one turn, and work on all of it.
 */
async function pacedReading (app: FastifyInstance): Promise<void> {
  const known = new WeakSet<Socket>()
  const all = new Set<PacedConnection>()
  const unread = new NewConnections()
  app.server.on('connection', (socket: Socket) => { unread.add(socket) })
  app.addHook('onRequest', (request, { raw }, done) => {
    const { headers, socket } = request.raw
    unread.remove(socket)
    // An answer that has no connection yet waits for another.
    if ((headers['transfer-encoding'] !== undefined || raw.socket === null) && !known.has(socket)) {
      known.add(socket)
      all.add(new PacedConnection(socket, turnKeyOf(request), all))
    }
    done()
  })
}

export default fp(pacedReading, { name: 'paced-reading', fastify: '5.x' })
