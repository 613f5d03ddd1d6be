import { turns } from '../lib/concurrency/turn-budget.js'

/** Chunks with fewer bytes are copied into a shared buffer. */
const SMALL_CHUNK = 4096
/** Bytes of a shared buffer. */
const SHARED_BYTES = 65_536

/**
 * The chunks of a body. A client may send it byte by byte, and a Buffer of one byte takes about a hundred bytes of
 * memory, so small chunks are copied into a shared buffer.
 */
export class BodyChunks {
  readonly #full: Buffer[] = []
  /** The buffer for small chunks; undefined until the first of them. */
  #open: Buffer | undefined
  #used = 0

  constructor (first: Buffer | undefined) {
    if (first !== undefined) this.add(first)
  }

  add (chunk: Buffer): void {
    if (chunk.length >= SMALL_CHUNK) {
      this.#close()
      this.#full.push(chunk)
      return
    }
    if (this.#open !== undefined && this.#used + chunk.length > this.#open.length) this.#close()
    this.#open ??= Buffer.allocUnsafe(SHARED_BYTES)
    this.#used += chunk.copy(this.#open, this.#used)
  }

  /** Joins the chunks; those of a long body in turns of the event loop. @param caller as in TurnBudget.next */
  async join (caller: string): Promise<Buffer> {
    this.#close()
    if (this.#full.length === 1) return this.#full[0]!
    const body = Buffer.allocUnsafeSlow(this.#full.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const chunk of this.#full) {
      if (turns.isExhausted) await turns.next(caller)
      at += chunk.copy(body, at)
    }
    return body
  }

  #close (): void {
    if (this.#open !== undefined) this.#full.push(this.#open.subarray(0, this.#used))
    this.#open = undefined
    this.#used = 0
  }
}
