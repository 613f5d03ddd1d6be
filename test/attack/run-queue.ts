import { readFileSync } from 'node:fs'

/**
 * How long the main thread of a process was ready to run so far while the machine had no processor for it, in milliseconds; 0 where the
 * system does not tell. It is brought up to date when the thread runs again.
 */
export function queuedMs (pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}
