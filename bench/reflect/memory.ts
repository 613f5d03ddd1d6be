import { setTimeout as delay } from 'node:timers/promises'
import { residentMegabytes } from '../resident-memory.js'

const SAMPLE_MS = 50
/** Time for sockets to close and for memory to return to the system. */
const PAUSE_MS = 1000
const COLLECTION_MS = 500

/** Arguments of node that make the process collect garbage on SIGWINCH, which a server does not use otherwise. */
export const GC_NODE_OPTIONS = ['--expose-gc', '--import', 'data:text/javascript,process.on("SIGWINCH",()=>{gc()})']

/** The memory of a process, in megabytes; null where there is no /proc. */
export interface Memory {
  rss_mb: number | null
  /** The used part of V8's heap. */
  heap_mb: number
}

/** Memory of an idle process after garbage collection. */
export async function memoryAfterGc ({ url, pid }: { url: string, pid: number }): Promise<Memory> {
  await delay(PAUSE_MS)
  process.kill(pid, 'SIGWINCH')
  await delay(COLLECTION_MS)
  const found = /^nodejs_heap_size_used_bytes (\S+)$/m.exec(await (await fetch(`${url}/metrics`)).text())
  if (found === null) throw new Error('The metrics of the gateway do not contain the size of its heap')
  return { rss_mb: residentMegabytes(pid) ?? null, heap_mb: Number(found[1]) / 1e6 }
}

/** @returns a function that ends the watch and returns the maximum resident memory; null where there is no /proc */
export function watchResident (pid: number): () => number | null {
  let peak: number | undefined
  const sample = () => {
    const now = residentMegabytes(pid)
    if (now !== undefined) peak = Math.max(peak ?? 0, now)
  }
  const timer = setInterval(sample, SAMPLE_MS)
  return () => {
    clearInterval(timer)
    sample()
    return peak ?? null
  }
}
