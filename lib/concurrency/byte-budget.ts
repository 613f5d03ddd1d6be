import { atCapacity, type ServiceError } from '../errors/service-error.js'
import { SharedLimit } from './shared-limit.js'

/** Bytes of a budget that are reserved until they are released. After that it may grow again. */
export interface ByteReservation {
  /** Bytes that it holds now. */
  readonly bytes: number
  /** @throws ServiceError server_busy when the budget has no room for these bytes; the reservation is then unchanged */
  grow (bytes: number): void
  /** Returns all bytes to the budget; a second call does nothing. */
  release (): void
}

/** Bounds the bytes of rows that one request or job may fetch from a remote store. */
export interface RowBudget {
  /**
   * Counts rows: before they are fetched where they may be large, afterwards where they are small. A negative number
   * returns the bytes of rows that are released before the exchange ends.
   * @throws ServiceError server_busy when there is no room for these bytes
   */
  take (bytes: number): void
}

/** The error for a request whose bytes do not fit into the budget. */
export function budgetExceededError (): ServiceError {
  return atCapacity('server_busy', 'The server has no capacity left for this request; try again')
}

/** Bytes that all requests together may hold. Work that does not fit is refused before it starts. */
export class ByteBudget {
  readonly #shared: SharedLimit

  constructor (limit: number) {
    this.#shared = new SharedLimit(limit)
  }

  /** Bytes that may be held. */
  get limit (): number {
    return this.#shared.limit
  }

  /** Bytes that are held now. */
  get reservedBytes (): number {
    return this.#shared.held
  }

  /**
   * @param caller who the bytes are for, as in TurnBudget.next: one caller may hold `callerLimit` of them
   * @throws ServiceError server_busy with `Retry-After` when there is no room
   */
  reserve (bytes: number, caller: string): ByteReservation {
    const part = new BudgetReservation((more) => { this.#count(more, caller) })
    part.grow(bytes)
    return part
  }

  /** Whether the caller may reserve these bytes now. */
  fits (bytes: number, caller: string): boolean {
    return this.#shared.fits(bytes, caller)
  }

  #count (more: number, caller: string): void {
    if (more > 0 && !this.fits(more, caller)) throw budgetExceededError()
    this.#shared.add(more, caller)
  }
}

/** A part of a row budget that may be given back before the exchange ends. */
export function reservationOf (budget: RowBudget): ByteReservation {
  return new BudgetReservation((more) => { budget.take(more) })
}

class BudgetReservation implements ByteReservation {
  readonly #count: (more: number) => void
  #held = 0

  /** @param count reserves bytes of the budget, or returns them when negative */
  constructor (count: (more: number) => void) {
    this.#count = count
  }

  grow (bytes: number): void {
    this.#count(bytes)
    this.#held += bytes
  }

  get bytes (): number {
    return this.#held
  }

  release (): void {
    this.#count(-this.#held)
    this.#held = 0
  }
}
