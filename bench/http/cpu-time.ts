import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second for user space, whatever the kernel's own tick is. */
const TICK_MS = 10

/**
 * Processor time that a process has used, all its threads together: on a shared machine a steadier figure than requests
 * a second.
 * @returns milliseconds; undefined where there is no /proc
 */
export function cpuTimeMs (pid: number): number | undefined {
  let line: string
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The second field, the program's name in brackets, may hold blanks; utime and stime are the 14th and 15th.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}
