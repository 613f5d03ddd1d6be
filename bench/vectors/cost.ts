import { performance } from 'node:perf_hooks'
import type * as localProvider from '../../lib/models/local/embedding-provider.js'
import { percentile } from '../percentiles.js'
import type { Texts } from './texts.js'

const LENGTHS = [50, 200, 500, 2000]
const TEXTS = 40
const ROUNDS = 5

export interface Cost {
  characters: number
  /** Milliseconds per text, medians of the rounds; processor time includes all threads. */
  cpu_ms: number
  wall_ms: number
}

/** Measures the cost of a vector of `local` by the length of its text, in this process with the built library. */
export async function measureCost (texts: Texts): Promise<Cost[]> {
  const { localEmbeddings }: typeof localProvider = await import(
    new URL('../../dist/lib/models/local/embedding-provider.js', import.meta.url).href,
  )
  const provider = localEmbeddings({}, {})
  try {
    await provider.embed(Array.from({ length: TEXTS }, () => texts.next(200)), {})
    const rounds = LENGTHS.map((characters) => ({ characters, cpu: [] as number[], wall: [] as number[] }))
    // In turns, so that other load of the machine affects all lengths alike.
    for (let round = 0; round < ROUNDS; round++) {
      for (const { characters, cpu, wall } of rounds) {
        const batch = Array.from({ length: TEXTS }, () => texts.next(characters))
        const started = performance.now()
        const before = process.cpuUsage()
        await provider.embed(batch, {})
        const { user, system } = process.cpuUsage(before)
        cpu.push((user + system) / 1000 / TEXTS)
        wall.push((performance.now() - started) / TEXTS)
      }
    }
    return rounds.map(({ characters, cpu, wall }) => ({ characters, cpu_ms: median(cpu), wall_ms: median(wall) }))
  } finally {
    await provider.close?.()
  }
}

function median (values: readonly number[]): number {
  return percentile([...values].sort((a, b) => a - b), 0.5)
}
