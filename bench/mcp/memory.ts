import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { memoryAfterGc, memoryReportOptions } from '../memory-after-gc.js'
import { residentMegabytes } from '../resident-memory.js'

const SAMPLE_EVERY_MS = 1000

/** The memory of a process, in megabytes. */
export interface MemoryFigures {
  /**
   * Sampled once a second, garbage included: V8 collects it when it needs memory, and keeps memory that it got from the
   * system.
   */
  resident_mb: { start: number, middle: number, end: number, max: number }
  /** After each requested garbage collection: the memory that the gateway retains. */
  after_gc_mb: number[]
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
    return join(this.#folder, 'memory.sock')
  }

  get nodeOptions (): string[] {
    return memoryReportOptions(this.#socket)
  }

  /** @param collectEvery seconds from one collection to the next; each stops the gateway for tens of milliseconds */
  async run (pid: number, collectEvery: number, signal: AbortSignal): Promise<MemoryFigures> {
    const resident: number[] = []
    const afterGc: number[] = []
    for (let second = 0; !signal.aborted; second++) {
      if (second > 0 && second % collectEvery === 0) {
        const report = await memoryAfterGc(this.#socket)
        if (report !== undefined) afterGc.push(Math.round((report.heapUsed + report.external) / 1e5) / 10)
      }
      resident.push(Math.round(residentMegabytes(pid) ?? NaN))
      await delay(SAMPLE_EVERY_MS)
    }
    return {
      resident_mb: {
        start: resident[0] ?? NaN,
        middle: resident[Math.floor(resident.length / 2)] ?? NaN,
        end: resident.at(-1) ?? NaN,
        max: Math.max(...resident),
      },
      after_gc_mb: afterGc,
    }
  }

  async close (): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }
}
