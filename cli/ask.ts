import { createInterface, type Interface } from 'node:readline/promises'
import { interrupted } from './interrupt.js'

/** Asks people, who sit at a terminal; what is asked is no result and goes to standard error. */
export class Questions {
  readonly #terminal: Interface = createInterface({ input: process.stdin, output: process.stderr })

  /** @throws CommandError with exit code 130 when there is no answer, but Ctrl-C or the end of the input */
  async ask (text: string): Promise<string> {
    const closed = new Promise<never>((_resolve, reject) => {
      // On a terminal Ctrl-C is a key, which closes the interface and leaves the question open for ever.
      this.#terminal.once('close', () => { reject(interrupted()) })
    })
    return (await Promise.race([this.#terminal.question(text), closed])).trim()
  }

  close (): void {
    this.#terminal.removeAllListeners('close')
    this.#terminal.close()
  }
}
