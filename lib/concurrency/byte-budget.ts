import { atCapacity, type ServiceError } from '../errors/service-error.js'

/** A part of a budget, until it is released. */
export interface Hold {
  /** @throws ServiceError server_busy when there is no room for so many bytes more; the hold is as it was then */
  grow (bytes: number): void
  /** Gives all of it back, once. */
  release (): void
}

/** What one exchange may bring into the process from a store that is elsewhere. */
export interface RowBudget {
  /**
   * Asked before rows are fetched that may be large, and told of small ones when they are there. A negative number
   * gives back what rows took that are let go before the exchange ends.
   * @throws ServiceError server_busy when there is no room for so many bytes more
   */
  take (bytes: number): void
}

/** What one is told whose bytes find no room. */
export function budgetSpent (): ServiceError {
  return atCapacity('server_busy', 'The server has as much work as it has room for; try again')
}

/** Bytes that are held for the work of all requests together. What finds no room is refused before it is begun. */
export class ByteBudget {
  /** Bytes that may be held. */
  readonly limit: number
  #held = 0

  constructor (limit: number) {
    this.limit = limit
  }

  /** Bytes that are held now. */
  get held (): number {
    return this.#held
  }

  /** @throws ServiceError server_busy with `Retry-After` when there is no room */
  hold (bytes: number): Hold {
    const part = new Part(this.#count)
    part.grow(bytes)
    return part
  }

  readonly #count = (more: number) => {
    if (more > 0 && this.#held + more > this.limit) throw budgetSpent()
    this.#held += more
  }
}

class Part implements Hold {
  readonly #count: (more: number) => void
  #held = 0

  /** @param count takes from the budget, or gives back */
  constructor (count: (more: number) => void) {
    this.#count = count
  }

  grow (bytes: number): void {
    this.#count(bytes)
    this.#held += bytes
  }

  release (): void {
    this.#count(-this.#held)
    this.#held = 0
  }
}
