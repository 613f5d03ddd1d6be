import { readFileSync } from 'node:fs'

/** @returns the memory of a process, garbage included; undefined where there is no /proc, or the process has ended */
export function residentMegabytes (pid: number): number | undefined {
  try {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return found === null ? undefined : Number(found[1]) * 1024 / 1e6
  } catch {
    return undefined
  }
}
