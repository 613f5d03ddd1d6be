import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterCollection, collecting } from '../collected-memory.js'
import { residentMegabytes } from '../resident.js'

const SAMPLE_EVERY_MS = 1000

/** The memory of a process, in megabytes. */
export interface MemoryFigures {
  /**
   * Sampled once a second, garbage included: V8 collects it when it needs memory, and keeps memory that it got from the
   * system.
   */
  resident_mb: { start: number, middle: number, end: number, most: number }
  /** After each requested garbage collection: the memory that the gateway retains. */
  held_mb: number[]
}

/** Watches the memory of a gateway that was started with `nodeOptions`. */
export class MemoryWatch {
  readonly #folder: string

  private constructor (folder: string) {
    this.#folder = folder
  }

  static async open (): Promise<MemoryWatch> {
    return new MemoryWatch(await mkdtemp(join(tmpdir(), 'memory-gateway-heap-')))
  }

  get #socket (): string {
    return join(this.#folder, 'told')
  }

  get nodeOptions (): string[] {
    return collecting(this.#socket)
  }

  /** @param collectEvery seconds from one collection to the next; each stops the gateway for tens of milliseconds */
  async run (pid: number, collectEvery: number, signal: AbortSignal): Promise<MemoryFigures> {
    const resident: number[] = []
    const held: number[] = []
    for (let turn = 0; !signal.aborted; turn++) {
      if (turn > 0 && turn % collectEvery === 0) {
        const told = await afterCollection(this.#socket)
        if (told !== undefined) held.push(Math.round((told.heapUsed + told.external) / 1e5) / 10)
      }
      resident.push(Math.round(residentMegabytes(pid) ?? NaN))
      await delay(SAMPLE_EVERY_MS)
    }
    return {
      resident_mb: {
        start: resident[0] ?? NaN,
        middle: resident[Math.floor(resident.length / 2)] ?? NaN,
        end: resident.at(-1) ?? NaN,
        most: Math.max(...resident),
      },
      held_mb: held,
    }
  }

  async close (): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }
}
