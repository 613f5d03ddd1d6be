import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Type } from 'typebox'
import { checker } from '../checked.js'

const SAMPLE_EVERY_MS = 1000

const Told = Type.Object({ heapUsed: Type.Number(), external: Type.Number() })
const checkTold = checker(Told, 'What the gateway tells of its memory')

/** What a process has in memory, in megabytes. */
export interface MemoryFigures {
  /** Once a second, garbage included: V8 collects it when it needs room, and keeps what it has from the system. */
  resident_mb: { start: number, middle: number, end: number, most: number }
  /** After each collection that was asked for: what the gateway holds on to. */
  held_mb: number[]
}

/** Watches the memory of a gateway that was started with `nodeOptions`. */
export class MemoryWatch {
  readonly #folder: string

  private constructor (folder: string) {
    this.#folder = folder
  }

  static async open (): Promise<MemoryWatch> {
    const watch = new MemoryWatch(await mkdtemp(join(tmpdir(), 'memory-gateway-heap-')))
    await writeFile(watch.#file, '')
    return watch
  }

  get #file (): string {
    return join(this.#folder, 'told')
  }

  get nodeOptions (): string[] {
    const url = new URL('heap-told.mjs', import.meta.url)
    url.searchParams.set('file', pathToFileURL(this.#file).href)
    return ['--expose-gc', '--import', url.href]
  }

  /** @param collectEvery seconds from one collection to the next; each stops the gateway for tens of milliseconds */
  async run (pid: number, collectEvery: number, signal: AbortSignal): Promise<MemoryFigures> {
    const resident: number[] = []
    for (let turn = 0; !signal.aborted; turn++) {
      if (turn > 0 && turn % collectEvery === 0) process.kill(pid, 'SIGWINCH')
      resident.push(residentMegabytes(pid))
      await delay(SAMPLE_EVERY_MS)
    }
    const lines = (await readFile(this.#file, 'utf8')).split('\n').filter((line) => line !== '')
    return {
      resident_mb: {
        start: resident[0] ?? NaN,
        middle: resident[Math.floor(resident.length / 2)] ?? NaN,
        end: resident.at(-1) ?? NaN,
        most: Math.max(...resident),
      },
      held_mb: lines.map((line) => {
        const { heapUsed, external } = checkTold(JSON.parse(line))
        return Math.round((heapUsed + external) / 1e5) / 10
      }),
    }
  }

  async close (): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }
}

function residentMegabytes (pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1000)
}
