import { setTimeout as delay } from 'node:timers/promises'
import { residentMegabytes } from '../resident.js'

const SAMPLE_MS = 50
/** Time for sockets to close and for memory to return to the system. */
const PAUSE_MS = 1000
const COLLECTION_MS = 500

/** Arguments of node with which collectGarbage() has an effect. SIGWINCH has no meaning for a server otherwise. */
export const COLLECTABLE = ['--expose-gc', '--import', 'data:text/javascript,process.on("SIGWINCH",()=>{gc()})']

/** The memory of a process, in megabytes; null where there is no /proc. */
export interface Memory {
  rss_mb: number | null
  /** The used part of V8's heap. */
  heap_mb: number
}

/** Memory of an idle process after garbage collection. */
export async function settledMemory ({ url, pid }: { url: string, pid: number }): Promise<Memory> {
  await delay(PAUSE_MS)
  process.kill(pid, 'SIGWINCH')
  await delay(COLLECTION_MS)
  const found = /^nodejs_heap_size_used_bytes (\S+)$/m.exec(await (await fetch(`${url}/metrics`)).text())
  if (found === null) throw new Error('The metrics of the gateway do not tell of its heap')
  return { rss_mb: residentMegabytes(pid) ?? null, heap_mb: Number(found[1]) / 1e6 }
}

/** @returns a function that ends the watch and returns the maximum resident memory; null where there is no /proc */
export function watchResident (pid: number): () => number | null {
  let most: number | undefined
  const look = () => {
    const now = residentMegabytes(pid)
    if (now !== undefined) most = Math.max(most ?? 0, now)
  }
  const timer = setInterval(look, SAMPLE_MS)
  return () => {
    clearInterval(timer)
    look()
    return most ?? null
  }
}
