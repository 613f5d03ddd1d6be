import { budgetExceededError, ByteBudget, type ByteReservation } from '../lib/concurrency/byte-budget.js'
import { callerLimit } from '../lib/concurrency/shared-limit.js'
import { SHORT_BODY } from '../lib/validation/json-body.js'

/** Memory of a long body as a multiple of its bytes: the bytes, the text decoded from them, and the parsed values. */
const MEMORY_FACTOR = 4
/**
 * The share of the budget that long bodies may use together. The rest is reserved for short ones, so that a few long
 * bodies do not block many short requests.
 */
const LONG_BODY_SHARE = 0.75

/** The bytes that one body holds. */
export interface HeldBody {
  /**
   * Counts a body of which this many bytes have arrived.
   * @throws ServiceError server_busy
   */
  hold (received: number): void
  release (): void
}

/** Counts the memory of request bodies in the byte budget of the process. */
export class BodyBudget {
  readonly #workBytes: ByteBudget
  readonly #longBodies: ByteBudget
  /** A body of any length fits when nothing else is held. */
  readonly #mostBytes: number

  /** @param workBytes the budget for all requests and responses */
  constructor (workBytes: ByteBudget) {
    this.#workBytes = workBytes
    this.#longBodies = new ByteBudget(LONG_BODY_SHARE * workBytes.limit)
    this.#mostBytes = callerLimit(this.#longBodies.limit, 0)
  }

  /** @throws ServiceError server_busy when a long body that is announced does not fit now */
  refuseIfTooLong (announced: number, caller: string): void {
    if (!(announced > SHORT_BODY)) return
    const bytes = this.#memoryOf(announced)
    if (!this.#longBodies.fits(bytes, caller) || !this.#workBytes.fits(bytes, caller)) throw budgetExceededError()
  }

  /** @param caller as in ByteBudget.reserve */
  begin (caller: string): HeldBody {
    const held = this.#workBytes.reserve(0, caller)
    let long: ByteReservation | undefined
    return {
      hold: (received) => {
        const bytes = this.#memoryOf(received)
        if (received > SHORT_BODY) {
          long ??= this.#longBodies.reserve(0, caller)
          long.grow(bytes - long.bytes)
        }
        held.grow(bytes - held.bytes)
      },
      release: () => {
        held.release()
        long?.release()
      },
    }
  }

  #memoryOf (bytes: number): number {
    return bytes > SHORT_BODY ? Math.min(MEMORY_FACTOR * bytes, this.#mostBytes) : bytes
  }
}
