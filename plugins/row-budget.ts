import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import {
  budgetExceededError, type ByteBudget, type ByteReservation, type RowBudget,
} from '../lib/concurrency/byte-budget.js'
import { onResponseClose } from '../http/response-close.js'
import { CHUNK_BYTES } from '../http/chunked-body.js'
import { turnKeyOf } from '../http/turn-key.js'

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
  const parts = new WeakMap<ServerResponse, ExchangeBudget>()
  app.decorate('withRowBudget', async <T>(reply: FastifyReply, work: (budget: RowBudget) => Promise<T>): Promise<T> => {
    const part = new ExchangeBudget(app.workBytes, turnKeyOf(reply.request))
    try {
      return await work(part)
    } finally {
      if (part.hasReservation) {
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
      const held = app.workBytes.reserve(bytes, turnKeyOf(reply.request))
      onResponseClose(reply, () => { held.release() })
    }
  })
}

/** The bytes that one exchange holds of the shared budget. */
class ExchangeBudget implements RowBudget {
  readonly #sharedBudget: ByteBudget
  readonly #caller: string
  #reservation: ByteReservation | undefined
  #taken = 0
  #reserved = 0
  #hasEnded = false

  constructor (all: ByteBudget, caller: string) {
    this.#sharedBudget = all
    this.#caller = caller
  }

  get hasReservation (): boolean {
    return this.#reserved > 0
  }

  take (bytes: number): void {
    // When the search of one bank fails, the response ends while the searches of others still run.
    if (this.#hasEnded) throw budgetExceededError()
    const taken = this.#taken + bytes
    if (taken > UNCOUNTED_BYTES) this.#setReserved(taken)
    else if (this.#reserved > 0) this.#setReserved(0)
    this.#taken = taken
  }

  settle (bytes: number): void {
    if (!this.#hasEnded) this.#setReserved(bytes)
  }

  end (): void {
    this.#hasEnded = true
    this.#reservation?.release()
    this.#reserved = 0
  }

  #setReserved (bytes: number): void {
    this.#reservation ??= this.#sharedBudget.reserve(0, this.#caller)
    this.#reservation.grow(bytes - this.#reserved)
    this.#reserved = bytes
  }
}

export default fp(rowBudget, { name: 'row-budget', fastify: '5.x', dependencies: ['bounds'] })
