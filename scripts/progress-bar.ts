import type { WriteStream } from 'node:tty'

const WIDTH = 30
/** Lines that are written when there is no terminal, one for each tenth. */
const STEPS = 10

/** A progress bar on a terminal; elsewhere a line for each tenth. */
export class ProgressBar {
  readonly #out: NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY'>>
  readonly #label: string
  #step = -1
  #shown = false

  constructor (out: NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY'>>, label: string) {
    this.#out = out
    this.#label = label
  }

  /** @param note is shown behind the share */
  update (done: number, total: number, note = ''): void {
    const share = total === 0 ? 1 : Math.min(1, done / total)
    const text = `${this.#label} ${done}/${total} (${Math.floor(share * 100)} %)${note}`
    if (this.#out.isTTY === true) {
      const filled = Math.round(share * WIDTH)
      this.#out.write(`\r\u001b[2K[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${text}`)
      this.#shown = true
      return
    }
    const step = Math.floor(share * STEPS)
    if (step === this.#step) return
    this.#step = step
    this.#out.write(`${text}\n`)
  }

  end (): void {
    if (this.#shown) this.#out.write('\n')
  }
}
