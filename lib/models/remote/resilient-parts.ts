import type { SettleAttempt } from './circuits.js'
import { linkedAbort } from '../../concurrency/aborting.js'

/** A call that has its slot. */
export interface CallUnderWay {
  /** Aborted when the caller leaves and when the provider closes. */
  controller: AbortController
  /** On the timer's clock. */
  deadline: number
  attemptTimeoutMs: number
  tenantId: string | undefined
  /** Gives everything back; may be called twice. */
  end: () => void
}

/** An attempt whose first part is there. */
export interface OpenParts<T> {
  first: IteratorResult<T>
  next: () => Promise<IteratorResult<T>>
  /** Ends the work, if it is not at its end. */
  leave: () => void
}

export interface Attempting<T> {
  open: (signal: AbortSignal) => AsyncIterable<T>
  isEnd: (part: T) => boolean
  settle: SettleAttempt
  /** Runs work within the time of an attempt. */
  within: <R>(work: () => Promise<R>) => Promise<R>
}

/** Opens an answer that comes in parts, and waits for the first. */
export async function openParts<T> (call: CallUnderWay, { open, isEnd, settle, within }: Attempting<T>): Promise<OpenParts<T>> {
  const { controller, unlink } = linkedAbort(call.controller.signal)
  let iterator: AsyncIterator<T> | undefined
  const leave = () => {
    settle({ leaving: true })
    unlink()
    controller.abort(new DOMException('The answer is not read on', 'AbortError'))
    // It may still wait for its next part, which nobody wants any more.
    void Promise.resolve(iterator).then(async (left) => await left?.return?.()).catch(() => {})
  }
  const next = async () => {
    try {
      iterator ??= open(controller.signal)[Symbol.asyncIterator]()
      const source = iterator
      const part = await within(async () => await source.next())
      // A reader may go when it has what it wants, without a look for more.
      if (part.done === true || isEnd(part.value)) settle({})
      return part
    } catch (error) {
      settle({ error, leaving: call.controller.signal.aborted })
      leave()
      throw error
    }
  }
  return { first: await next(), next, leave }
}

export interface PartsWork<T> {
  /** Waits for a slot. */
  begin: (signal: AbortSignal) => Promise<CallUnderWay>
  /** Attempts until the first part is there. */
  open: (call: CallUnderWay) => Promise<OpenParts<T>>
  /** Milliseconds that the call has left. */
  leftMs: (call: CallUnderWay) => number
  /** The error of a call whose time is over. */
  late: () => Error
}

/** The parts of one answer for one reader. Nothing happens before the first is asked for. */
export class Parts<T> implements AsyncIterableIterator<T> {
  readonly #leaving = new AbortController()
  readonly #parts: AsyncGenerator<T, undefined, undefined>

  /** @param callers signal that ends the reading with its reason */
  constructor (work: PartsWork<T>, callers: AbortSignal | undefined) {
    this.#parts = readParts(work, callers, this.#leaving.signal)
  }

  async next (): Promise<IteratorResult<T, undefined>> {
    try {
      return await this.#parts.next()
    } catch (error) {
      if (this.#leaving.signal.aborted) return { done: true, value: undefined }
      throw error
    }
  }

  /** Ends the work at once, even while a part is waited for; a generator alone would wait for that part. */
  async return (): Promise<IteratorResult<T, undefined>> {
    this.#leaving.abort()
    return await this.#parts.return(undefined)
  }

  [Symbol.asyncIterator] (): this {
    return this
  }
}

async function * readParts<T> (work: PartsWork<T>, callers: AbortSignal | undefined, leaving: AbortSignal): AsyncGenerator<T, undefined, undefined> {
  const { controller, unlink } = linkedAbort(callers)
  leaving.addEventListener('abort', () => { controller.abort(leaving.reason) })
  try {
    yield * readCall(work, await work.begin(controller.signal))
  } finally {
    unlink()
  }
}

async function * readCall<T> (work: PartsWork<T>, call: CallUnderWay): AsyncGenerator<T, undefined, undefined> {
  const { signal } = call.controller
  let parts: OpenParts<T> | undefined
  let timer: NodeJS.Timeout | undefined
  try {
    const opened = parts = await work.open(call)
    // A reader that never comes back must not keep the slot.
    const giveUp = () => {
      call.controller.abort(work.late())
      opened.leave()
      call.end()
    }
    if (call.deadline !== Infinity) timer = setTimeout(giveUp, Math.max(work.leftMs(call), 0))
    for (let part = parts.first; part.done !== true; part = await parts.next()) {
      yield part.value
      signal.throwIfAborted()
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    clearTimeout(timer)
    parts?.leave()
    call.end()
  }
}
