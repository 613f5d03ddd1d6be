import { CommandError, EXIT } from './failures.js'

export function interrupted (told = 'interrupted'): CommandError {
  return new CommandError(told, EXIT.interrupted)
}

/**
 * Runs work that Ctrl-C ends: the first one aborts the signal, so that the work can put away what it has begun; a
 * second one ends the process at once.
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
    // What a cut connection says of itself is of no interest then.
    const isTold = error instanceof CommandError && error.exitCode === EXIT.interrupted
    throw controller.signal.aborted && !isTold ? interrupted() : error
  } finally {
    process.off('SIGINT', onInterrupt)
    process.off('SIGTERM', onInterrupt)
  }
}

/** For work that has nothing to put away: Ctrl-C ends the process, and a transaction of the database with it. */
export function endOnInterrupt (): void {
  process.once('SIGINT', () => { process.exit(EXIT.interrupted) })
}
