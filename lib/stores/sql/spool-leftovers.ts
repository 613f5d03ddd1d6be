import { lstat, readdir, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY_MS } from '../../time/days.js'

/**
 * Spool files that need a name at first. A process that is killed before it has unlinked the file leaves an empty one.
 */
const FILE = /^memory-gateway-(\d+)-[0-9a-f]{16}\.spool$/
/** Folders to which earlier releases wrote exports, and which remained when they were killed, with files in them. */
const OLD_FOLDER = /^memory-gateway-[A-Za-z0-9]{6}$/
const OLD_FILE = /^export-\d+\.ndjson$/
/** A server of an earlier release may still run; it reads a file for less time, and writes to its folder more often. */
const OLD_FILE_MS = 3_600_000
const OLD_FOLDER_MS = DAY_MS

export function spoolName (pid: number, word: string): string {
  return `memory-gateway-${pid}-${word}.spool`
}

interface LeftoverOptions {
  /** Milliseconds since the epoch, like the times of files. */
  now?: number
  isAlive?: (pid: number) => boolean
}

/**
 * Removes what exports of ended processes have left in the temporary folder: only files and folders of the current
 * user, with names that only exports have, and never those of a living process. Whatever cannot be inspected or removed
 * stays.
 */
export async function removeLeftovers (
  folder: string, { now = Date.now(), isAlive = isProcess }: LeftoverOptions = {},
): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name)
    const pid = FILE.exec(name)?.[1]
    if (pid !== undefined) {
      if (!isAlive(Number(pid)) && (await statOwnFile(path))?.isFile() === true) await quietly(unlink(path))
    } else if (OLD_FOLDER.test(name)) await removeOld(path, now)
  }
}

async function removeOld (folder: string, now: number): Promise<void> {
  const found = await statOwnFile(folder)
  if (found?.isDirectory() !== true) return
  for (const name of await readdir(folder).catch(() => [])) {
    if (!OLD_FILE.test(name)) return
    const path = join(folder, name)
    const file = await statOwnFile(path)
    if (file?.isFile() === true && file.mtimeMs < now - OLD_FILE_MS) await quietly(unlink(path))
  }
  // rmdir keeps a folder that is not empty.
  if (found.mtimeMs < now - OLD_FOLDER_MS) await quietly(rmdir(folder))
}

/** @returns undefined also for a file of another user; does not follow links */
async function statOwnFile (path: string) {
  const found = await lstat(path).catch(() => undefined)
  return process.getuid === undefined || found?.uid === process.getuid() ? found : undefined
}

async function quietly (work: Promise<void>): Promise<void> {
  // Another process may have been faster, or the folder may not permit it.
  await work.catch(() => {})
}

function isProcess (pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}
