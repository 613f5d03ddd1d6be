import { setTimeout as delay } from 'node:timers/promises'
import { residentMegabytes } from '../resident.js'

const SAMPLE_MS = 50
/** Sockets close and memory goes back to the system in this time. */
const PAUSE_MS = 1000
const COLLECTION_MS = 500

/** Arguments of node with which collectGarbage() has an effect. SIGWINCH means nothing to a server. */
export const COLLECTABLE = ['--expose-gc', '--import', 'data:text/javascript,process.on("SIGWINCH",()=>{gc()})']

/** What a process has in memory, in megabytes; null where there is no /proc. */
export interface Memory {
  rss_mb: number | null
  /** Of the heap of V8, what is in use. */
  heap_mb: number
}

/** Memory once there is nothing to do and no garbage. */
export async function settledMemory ({ url, pid }: { url: string, pid: number }): Promise<Memory> {
  await delay(PAUSE_MS)
  process.kill(pid, 'SIGWINCH')
  await delay(COLLECTION_MS)
  const found = /^nodejs_heap_size_used_bytes (\S+)$/m.exec(await (await fetch(`${url}/metrics`)).text())
  if (found === null) throw new Error('The metrics of the gateway do not tell of its heap')
  return { rss_mb: residentMegabytes(pid) ?? null, heap_mb: Number(found[1]) / 1e6 }
}

/** @returns what ends the watch and gives the most that was resident meanwhile; null where there is no /proc */
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
