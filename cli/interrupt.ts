import { unlessAborted } from '../lib/base/aborting.js'
import { CommandError, EXIT } from './failures.js'

export function interrupted (message = 'interrupted'): CommandError {
  return new CommandError(message, EXIT.interrupted)
}

/**
 * Runs work that Ctrl-C ends: the first Ctrl-C aborts the signal, so that the work can clean up; a second one ends the
 * process at once.
 * @throws CommandError with exit code 130 when the work ended because of it
 */
export async function untilInterrupted<T> (work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const onInterrupt = () => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted)
    controller.abort(interrupted())
  }
  process.on('SIGINT', onInterrupt)
  process.on('SIGTERM', onInterrupt)
  try {
    return await work(controller.signal)
  } catch (error) {
    // The error of the aborted connection is not reported.
    const isInterruption = error instanceof CommandError && error.exitCode === EXIT.interrupted
    throw controller.signal.aborted && !isInterruption ? interrupted() : error
  } finally {
    process.off('SIGINT', onInterrupt)
    process.off('SIGTERM', onInterrupt)
  }
}

/**
 * The items until the signal is aborted, also while the source of the next one is silent.
 * @throws the reason of the signal
 */
export async function * untilAborted<T> (items: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void> {
  const iterator = items[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await unlessAborted(iterator.next(), signal)
      if (next.done === true) return
      yield next.value
    }
  } finally {
    // Not awaited, because a silent source may never end.
    void iterator.return?.()
  }
}

/** For work without cleanup: Ctrl-C ends the process, and the database rolls back its transaction. */
export function endOnInterrupt (): void {
  process.once('SIGINT', () => { process.exit(EXIT.interrupted) })
}
