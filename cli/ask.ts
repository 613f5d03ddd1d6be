import { createInterface, type Interface } from 'node:readline/promises'
import { interrupted } from './interrupt.js'

/** Asks questions on a terminal. They are not results, so they go to standard error. */
export class Questions {
  readonly #terminal: Interface = createInterface({ input: process.stdin, output: process.stderr })

  /** @throws CommandError with exit code 130 at Ctrl-C or the end of the input */
  async ask (text: string): Promise<string> {
    const closed = new Promise<never>((_resolve, reject) => {
      // On a terminal Ctrl-C closes the interface, and the promise of the question never settles.
      this.#terminal.once('close', () => { reject(interrupted()) })
    })
    return (await Promise.race([this.#terminal.question(text), closed])).trim()
  }

  close (): void {
    this.#terminal.removeAllListeners('close')
    this.#terminal.close()
  }
}
