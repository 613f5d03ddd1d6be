import pino from 'pino'

/** A part of pino's destination, SonicBoom, which buffers lines until it is flushed or its buffer is full. */
interface LogOutput {
  write (line: string): unknown
  flush (): void
  flushSync (): void
}

/** From this many bytes on, lines are written before the turn of the event loop ends. */
const BUFFER_BYTES = 8192

/**
 * Gathers the lines that are logged in one turn of the event loop and writes them with one system call at its end: a
 * call for each line costs a fifth of the processor time of a recall. A process that is killed loses the lines of its
 * current turn at most; one that ends by itself loses none.
 */
export class BatchedLines {
  readonly #output: LogOutput
  #isScheduled = false

  constructor (output: LogOutput) {
    this.#output = output
  }

  write (line: string): void {
    this.#output.write(line)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      // Unlike flushSync it reports a closed pipe as an event, which pino handles.
      this.#output.flush()
    })
  }

  /** pino calls it after a fatal line. */
  flushSync (): void {
    this.#output.flushSync()
  }
}

let standardOutput: BatchedLines | undefined

/** The standard output of the process, which all apps in it share. */
export function standardOutputLines (): BatchedLines {
  if (standardOutput === undefined) {
    const output = pino.destination({ fd: process.stdout.fd, sync: true, minLength: BUFFER_BYTES })
    process.once('exit', () => { output.flushSync() })
    standardOutput = new BatchedLines(output)
  }
  return standardOutput
}

/** Writes the buffered lines, so that they precede the output that follows. */
export function flushLog (): void {
  standardOutput?.flushSync()
}
