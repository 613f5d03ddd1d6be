import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A program of this folder in a separate process, which answers each message with one message. */
export class Child {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  readonly #kill = () => { this.#child.kill('SIGKILL') }

  /** @param file the name of the program's file */
  constructor (file: string, args: readonly string[]) {
    this.#child = fork(fileURLToPath(new URL(file, import.meta.url)), args, { execArgv: ['--import', 'tsx'] })
    this.#ended = once(this.#child, 'exit')
    process.once('exit', this.#kill)
  }

  async ask (message: string): Promise<unknown> {
    const answer = this.nextMessage()
    this.#child.send(message)
    return await answer
  }

  /** The next message. */
  async nextMessage (): Promise<unknown> {
    const [answer] = await Promise.race([
      once(this.#child, 'message'),
      this.#ended.then(() => { throw new Error('A process of the attack ended without a message') }),
    ]) as unknown[]
    return answer
  }

  async stop (): Promise<void> {
    process.off('exit', this.#kill)
    this.#kill()
    await this.#ended
  }
}
