/**
 * How far the start tag of a flow that was idle may lie before the virtual time of the queue, in milliseconds of
 * service: enough for a few short requests. It bounds what a flow can get beyond an equal share. An unknown flow has no
 * such credit: one caller could create many, and all others would wait until each had used it.
 */
const CREDIT_MS = 10
/** How many idle flows keep their start tag. */
const MAX_IDLE_FLOWS = 1000

interface Flow<T> {
  readonly name: string
  /** The virtual time at which the next item of the flow may start: it rises by the service that the flow received. */
  startTag: number
  /** Breaks ties between equal tags: first come, first served. */
  order: number
  readonly items: T[]
}

/**
 * A queue that divides one resource between flows by start-time fair queueing (Goyal, Vin and Cheng, "Start-time Fair
 * Queuing", 1996). Each flow has a start tag, which rises by the service that it received. The flow with the least tag
 * is served next. The virtual time of the queue is the tag of the flow served last, and rises with the service that
 * each waiting flow could have had since. A flow that was idle starts at most CREDIT_MS before the virtual time, so a
 * flow that uses little hardly waits, and none saves up service by idling. An unknown flow starts at the virtual time.
 * It is our own because no library that was compared has flows.
 */
export class FairQueue<T> {
  readonly #flows = new Map<string, Flow<T>>()
  /** A binary heap by start tag of the flows that have items, without the flow in service. */
  readonly #waiting: Array<Flow<T>> = []
  readonly #creditMs: number
  #inService: Flow<T> | undefined
  #virtualTime = 0
  #nextOrder = 0
  #length = 0

  constructor ({ creditMs = CREDIT_MS }: { creditMs?: number } = {}) {
    this.#creditMs = creditMs
  }

  /** The number of items. */
  get length (): number {
    return this.#length
  }

  /** The flow in service, between `shift` and `charge`. */
  get servedFlow (): string | undefined {
    return this.#inService?.name
  }

  /** The number of flows whose start tag is known. */
  get size (): number {
    return this.#flows.size
  }

  push (name: string, item: T): void {
    let flow = this.#flows.get(name)
    if (flow === undefined) {
      flow = { name, startTag: this.#virtualTime, order: 0, items: [] }
      this.#flows.set(name, flow)
    }
    flow.items.push(item)
    this.#length++
    if (flow.items.length > 1 || flow === this.#inService) return
    flow.startTag = Math.max(flow.startTag, this.#virtualTime - this.#creditMs)
    this.#add(flow)
  }

  /**
   * @returns the oldest item of the flow with the least start tag; undefined when the queue is empty. Call `charge`
   * before the next `shift`
   */
  shift (): T | undefined {
    const flow = this.#takeFirst()
    if (flow === undefined) return undefined
    this.#inService = flow
    this.#length--
    this.#virtualTime = Math.max(this.#virtualTime, flow.startTag)
    return flow.items.shift()
  }

  /** Charges the service that the last item took to its flow. */
  charge (ms: number): void {
    const flow = this.#inService
    if (flow === undefined) return
    this.#inService = undefined
    flow.startTag += ms
    // It also rises while new flows keep arriving, each of which starts at it, so that those behind them are served
    // too.
    this.#virtualTime += ms / (this.#waiting.length + 1)
    if (flow.items.length > 0) {
      this.#add(flow)
      return
    }
    // The map keeps flows in the order of their last service, and #forget removes the first idle one.
    this.#flows.delete(flow.name)
    this.#flows.set(flow.name, flow)
    this.#forget()
  }

  #forget (): void {
    if (this.#flows.size - this.#waiting.length <= MAX_IDLE_FLOWS) return
    for (const { name, items } of this.#flows.values()) {
      if (items.length > 0) continue
      this.#flows.delete(name)
      return
    }
  }

  #add (flow: Flow<T>): void {
    const heap = this.#waiting
    flow.order = this.#nextOrder++
    let at = heap.length
    while (at > 0) {
      const parent = heap[(at - 1) >> 1]!
      if (!isBefore(flow, parent)) break
      heap[at] = parent
      at = (at - 1) >> 1
    }
    heap[at] = flow
  }

  #takeFirst (): Flow<T> | undefined {
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

function isBefore (a: Flow<unknown>, b: Flow<unknown>): boolean {
  return a.startTag < b.startTag || (a.startTag === b.startTag && a.order < b.order)
}
