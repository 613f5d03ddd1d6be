/**
 * How far one who comes back may be ahead of those who have had the time meanwhile, in milliseconds of use: a few dozen
 * short requests. It is also the most that each of them can hold up the others beyond an equal share.
 */
const CREDIT_MS = 50
/** Users whose use is remembered while they have nothing in the queue. */
const MOST_REMEMBERED = 1000

interface User<T> {
  readonly name: string
  /** What was used, in the virtual time of the queue. */
  used: number
  /** Orders those who have used as much: first come, first served. */
  order: number
  readonly items: T[]
}

/**
 * A queue of who uses one thing, which serves next whoever has used it least, as start-time fair queueing does (Goyal,
 * Vin and Cheng, "Start-time Fair Queuing", 1996): each has a tag that rises by what was used, the least tag is next,
 * and the tag of the last one that was served is the time of the queue. Who comes back begins at most CREDIT_MS before
 * it, so that one who uses little hardly waits, and nobody saves up time for later by staying away.
 */
export class FairQueue<T> {
  readonly #users = new Map<string, User<T>>()
  /** A binary heap of those who wait and are not served. */
  readonly #waiting: Array<User<T>> = []
  readonly #creditMs: number
  #served: User<T> | undefined
  #now = 0
  #orders = 0

  constructor ({ creditMs = CREDIT_MS }: { creditMs?: number } = {}) {
    this.#creditMs = creditMs
  }

  get isEmpty (): boolean {
    return this.#waiting.length === 0
  }

  /** Those whose use is known. */
  get size (): number {
    return this.#users.size
  }

  push (name: string, item: T): void {
    let user = this.#users.get(name)
    if (user === undefined) {
      user = { name, used: -Infinity, order: 0, items: [] }
      this.#users.set(name, user)
    }
    user.items.push(item)
    if (user.items.length > 1 || user === this.#served) return
    user.used = Math.max(user.used, this.#now - this.#creditMs)
    this.#add(user)
  }

  /**
   * @returns the oldest item of who has used least; `charge` is to be called before the next one. Undefined when the
   * queue is empty
   */
  shift (): T | undefined {
    const user = this.#takeFirst()
    if (user === undefined) return undefined
    this.#served = user
    this.#now = Math.max(this.#now, user.used)
    return user.items.shift()
  }

  /** Tells how much the item that came last has used. */
  charge (ms: number): void {
    const user = this.#served
    if (user === undefined) return
    this.#served = undefined
    user.used += ms
    if (user.items.length > 0) {
      this.#add(user)
      return
    }
    // Who was served last comes last, and the first ones are forgotten.
    this.#users.delete(user.name)
    if (user.used <= this.#now - this.#creditMs) return
    this.#users.set(user.name, user)
    this.#forget()
  }

  #forget (): void {
    if (this.#users.size - this.#waiting.length <= MOST_REMEMBERED) return
    for (const { name, items } of this.#users.values()) {
      if (items.length > 0) continue
      this.#users.delete(name)
      return
    }
  }

  #add (user: User<T>): void {
    const heap = this.#waiting
    user.order = this.#orders++
    let at = heap.length
    while (at > 0) {
      const parent = heap[(at - 1) >> 1]!
      if (!isBefore(user, parent)) break
      heap[at] = parent
      at = (at - 1) >> 1
    }
    heap[at] = user
  }

  #takeFirst (): User<T> | undefined {
    const heap = this.#waiting
    const first = heap[0]
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
    return first
  }
}

function isBefore (a: User<unknown>, b: User<unknown>): boolean {
  return a.used < b.used || (a.used === b.used && a.order < b.order)
}
