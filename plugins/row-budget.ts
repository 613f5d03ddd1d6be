import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { budgetExceeded, type ByteBudget, type Hold, type RowBudget } from '../lib/concurrency/byte-budget.js'
import { onResponseClose } from '../http/response-close.js'
import { CHUNK_BYTES } from '../http/chunked-body.js'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Runs the work of a request with a budget for the rows that the store reads. The budget is part of
     * `bounds.work_bytes` and is held until both the work and the response have ended, successfully or not.
     */
    withRowBudget<T> (reply: FastifyReply, work: (budget: RowBudget) => Promise<T>): Promise<T>
    /**
     * Sets the bytes that the exchange holds, when its answer is made and all other rows are released.
     * @throws ServiceError server_busy
     */
    holdBytes (reply: FastifyReply, bytes: number): void
  }
}

/** Bytes that each exchange may use without being counted. */
const UNCOUNTED_BYTES = 2 * CHUNK_BYTES

/** Counts rows of a database before they are fetched; later only the answer that is made from some of them. */
async function rowBudget (app: FastifyInstance): Promise<void> {
  const parts = new WeakMap<ServerResponse, ExchangePart>()
  app.decorate('withRowBudget', async <T>(reply: FastifyReply, work: (budget: RowBudget) => Promise<T>): Promise<T> => {
    const part = new ExchangePart(app.workBytes)
    try {
      return await work(part)
    } finally {
      if (part.isHeld) {
        parts.set(reply.raw, part)
        onResponseClose(reply, () => { part.end() })
      } else {
        part.end()
      }
    }
  })
  app.decorate('holdBytes', (reply: FastifyReply, bytes: number) => {
    const part = parts.get(reply.raw)
    if (part !== undefined) {
      part.settle(bytes)
    } else if (bytes > 0) {
      const held = app.workBytes.hold(bytes)
      onResponseClose(reply, () => { held.release() })
    }
  })
}

/** The bytes that one exchange holds of the shared budget. */
class ExchangePart implements RowBudget {
  readonly #all: ByteBudget
  #hold: Hold | undefined
  #taken = 0
  #held = 0
  #isOver = false

  constructor (all: ByteBudget) {
    this.#all = all
  }

  get isHeld (): boolean {
    return this.#held > 0
  }

  take (bytes: number): void {
    // When the search of one bank fails, the response ends while the searches of others still run.
    if (this.#isOver) throw budgetExceeded()
    const taken = this.#taken + bytes
    if (taken > UNCOUNTED_BYTES) this.#setHeld(taken)
    else if (this.#held > 0) this.#setHeld(0)
    this.#taken = taken
  }

  settle (bytes: number): void {
    if (!this.#isOver) this.#setHeld(bytes)
  }

  end (): void {
    this.#isOver = true
    this.#hold?.release()
    this.#held = 0
  }

  #setHeld (bytes: number): void {
    this.#hold ??= this.#all.hold(0)
    this.#hold.grow(bytes - this.#held)
    this.#held = bytes
  }
}

export default fp(rowBudget, { name: 'row-budget', fastify: '5.x', dependencies: ['bounds'] })
