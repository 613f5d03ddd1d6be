import { lstat, readdir, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The files of spools that need a name at first. A process that is killed before it has taken the name away leaves an
 * empty one.
 */
const FILE = /^memory-gateway-(\d+)-[0-9a-f]{16}\.spool$/
/**
 * What releases before wrote exports to, and left behind when they were killed: such a folder with such files in it.
 */
const OLD_FOLDER = /^memory-gateway-[A-Za-z0-9]{6}$/
const OLD_FILE = /^export-\d+\.ndjson$/
/** A server of before, which may still run, reads a file for less time, and makes another in its folder more often. */
const OLD_FILE_MS = 3_600_000
const OLD_FOLDER_MS = 86_400_000

export function spoolName (pid: number, word: string): string {
  return `memory-gateway-${pid}-${word}.spool`
}

export interface LeftoverOptions {
  /** Milliseconds since the epoch, as the times of files are. */
  now?: number
  isAlive?: (pid: number) => boolean
}

/**
 * Removes what exports of processes that are gone have left in the temporary folder: only files and folders of our own
 * user, of names that only exports have, and never a living process's. Whatever cannot be looked at or removed is left.
 */
export async function removeLeftovers (
  folder: string, { now = Date.now(), isAlive = isProcess }: LeftoverOptions = {},
): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name)
    const pid = FILE.exec(name)?.[1]
    if (pid !== undefined) {
      if (!isAlive(Number(pid)) && (await ours(path))?.isFile() === true) await quietly(unlink(path))
    } else if (OLD_FOLDER.test(name)) await removeOld(path, now)
  }
}

async function removeOld (folder: string, now: number): Promise<void> {
  const found = await ours(folder)
  if (found?.isDirectory() !== true) return
  for (const name of await readdir(folder).catch(() => [])) {
    if (!OLD_FILE.test(name)) return
    const path = join(folder, name)
    const file = await ours(path)
    if (file?.isFile() === true && file.mtimeMs < now - OLD_FILE_MS) await quietly(unlink(path))
  }
  // One that is not empty stays.
  if (found.mtimeMs < now - OLD_FOLDER_MS) await quietly(rmdir(folder))
}

/** @returns undefined also for what is another user's; a link is what it is */
async function ours (path: string) {
  const found = await lstat(path).catch(() => undefined)
  return process.getuid === undefined || found?.uid === process.getuid() ? found : undefined
}

async function quietly (work: Promise<void>): Promise<void> {
  // Somebody else was faster, or the folder does not let us.
  await work.catch(() => {})
}

function isProcess (pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's process may not be asked, and is there.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}
