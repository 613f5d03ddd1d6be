import { readFileSync } from 'node:fs'

/**
 * What the main thread of a process had of the machine so far, in milliseconds; all 0 where the system does not tell.
 */
export interface Scheduled {
  ranMs: number
  /**
   * How long it was ready to run while the machine had no processor for it. It is brought up to date when the thread
   * runs again.
   */
  queuedMs: number
}

export function scheduled (pid: number): Scheduled {
  try {
    const [ran, queued] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')
    return { ranMs: Number(ran) / 1e6, queuedMs: Number(queued) / 1e6 }
  } catch {
    return { ranMs: 0, queuedMs: 0 }
  }
}

export function queuedMs (pid: number): number {
  return scheduled(pid).queuedMs
}
