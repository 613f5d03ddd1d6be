import { linkedAbort } from '../../concurrency/aborting.js'
import { Deadline } from '../../concurrency/deadline.js'
import type { ActiveCall } from './call-options.js'
import type { ReportAttempt } from './model-circuit-breakers.js'

/** A stream whose first part has arrived. */
interface OpenedStream<T> {
  first: IteratorResult<T>
  next: () => Promise<IteratorResult<T>>
  /** Ends the work, unless it has ended. */
  cancel: () => void
}

interface StreamAttempt<T> {
  open: (signal: AbortSignal) => AsyncIterable<T>
  isEnd: (part: T) => boolean
  reportOutcome: ReportAttempt
  /** Runs work within the time of an attempt. */
  withinTimeLimit: <R>(work: () => Promise<R>) => Promise<R>
}

/** Makes one attempt at an answer that comes in parts, and waits for the first. */
export async function openStream<T> (
  call: ActiveCall, { open, isEnd, reportOutcome: ended, withinTimeLimit: within }: StreamAttempt<T>,
): Promise<OpenedStream<T>> {
  const { controller, unlink } = linkedAbort(call.controller.signal)
  let iterator: AsyncIterator<T> | undefined
  const cancel = () => {
    ended({ abandoned: true })
    unlink()
    controller.abort(new DOMException('The answer is not read on', 'AbortError'))
    // return() may wait for a part that is still pending, so it is not awaited.
    void Promise.resolve(iterator).then(async (left) => await left?.return?.()).catch(() => {})
  }
  const next = async () => {
    try {
      iterator ??= open(controller.signal)[Symbol.asyncIterator]()
      const source = iterator
      const part = await within(async () => await source.next())
      // A reader may stop after the last part without asking for the end.
      if (part.done === true || isEnd(part.value)) ended({})
      return part
    } catch (error) {
      ended({ error, abandoned: call.controller.signal.aborted })
      cancel()
      throw error
    }
  }
  return { first: await next(), next, cancel }
}

interface StreamSource<T> {
  /** Waits for a permit. */
  begin: (signal: AbortSignal) => Promise<ActiveCall>
  /** Makes attempts until the first part has arrived. */
  open: (call: ActiveCall) => Promise<OpenedStream<T>>
  /** Milliseconds that the call has left, at least 0. */
  leftMs: (call: ActiveCall) => number
  /** The error of a call whose time is over. */
  timeoutError: () => Error
}

/** An answer in parts for one reader. The call begins when the first part is requested. */
export class ResilientStream<T> implements AsyncIterableIterator<T> {
  readonly #abort = new AbortController()
  readonly #parts: AsyncGenerator<T, undefined, undefined>

  /** @param callers signal that ends the reading with its reason */
  constructor (source: StreamSource<T>, callers: AbortSignal | undefined) {
    this.#parts = readSource(source, callers, this.#abort.signal)
  }

  async next (): Promise<IteratorResult<T, undefined>> {
    try {
      return await this.#parts.next()
    } catch (error) {
      if (this.#abort.signal.aborted) return { done: true, value: undefined }
      throw error
    }
  }

  /** Ends the work at once, even while a part is waited for; a generator alone would wait for that part. */
  async return (): Promise<IteratorResult<T, undefined>> {
    this.#abort.abort()
    return await this.#parts.return(undefined)
  }

  [Symbol.asyncIterator] (): this {
    return this
  }
}

type Parts<T> = AsyncGenerator<T, undefined, undefined>

async function * readSource<T> (
  source: StreamSource<T>, callers: AbortSignal | undefined, consumerSignal: AbortSignal,
): Parts<T> {
  const { controller, unlink } = linkedAbort(callers)
  consumerSignal.addEventListener('abort', () => { controller.abort(consumerSignal.reason) })
  try {
    yield * readCall(source, await source.begin(controller.signal))
  } finally {
    unlink()
  }
}

async function * readCall<T> (source: StreamSource<T>, call: ActiveCall): Parts<T> {
  const { signal } = call.controller
  let stream: OpenedStream<T> | undefined
  let deadline: Deadline | undefined
  try {
    const opened = stream = await source.open(call)
    deadline = new Deadline(source.leftMs(call), { expired: source.timeoutError })
    // A reader that never asks again must not keep the permit.
    deadline.signal.addEventListener('abort', () => {
      call.controller.abort(deadline?.signal.reason)
      opened.cancel()
      call.end()
    })
    for (let part = opened.first; part.done !== true; part = await opened.next()) {
      yield part.value
      signal.throwIfAborted()
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    deadline?.end()
    stream?.cancel()
    call.end()
  }
}
