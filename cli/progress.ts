import { ProgressBar } from '../scripts/progress-bar.js'

/** Milliseconds between two lines when there is no terminal. */
const LINE_EVERY_MS = 5000

/** The progress of a command: on a terminal a bar, or a count if the total is unknown; plain lines elsewhere. */
export class Progress {
  readonly #label: string
  readonly #bar: ProgressBar
  #lineAt = performance.now() + LINE_EVERY_MS
  #shown = false

  constructor (label: string) {
    this.#label = label
    this.#bar = new ProgressBar(process.stderr, label)
  }

  /**
   * @param total undefined when unknown
   * @param note is shown behind the count
   */
  update (done: number, total?: number, note = ''): void {
    if (total !== undefined) return this.#bar.update(done, total, note)
    if (performance.now() < this.#lineAt && !process.stderr.isTTY) return
    this.#lineAt = performance.now() + LINE_EVERY_MS
    const text = `${this.#label} ${done}${note}`
    process.stderr.write(process.stderr.isTTY ? `\r\u001b[2K${text}` : `${text}\n`)
    this.#shown = process.stderr.isTTY
  }

  end (): void {
    this.#bar.end()
    if (this.#shown) process.stderr.write('\r\u001b[2K')
  }
}
