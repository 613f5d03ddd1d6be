import { createHash, randomUUID } from 'node:crypto'
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { parsedJson } from '../../base/json-object.js'
import { messageOf } from '../../base/message-of.js'
import { ProviderError } from '../../config/providers/registry.js'

/** Maximum number of attempts while other processes keep changing the lock. */
const ATTEMPTS = 100

/** Content of `<data_dir>/lock`, as one line of JSON. */
interface Holder {
  pid: number
  /**
   * Start time of the process, in clock ticks since boot (field 22 of /proc/<pid>/stat); null where there is no /proc.
   */
  start: string | null
  host: string
  /** When the lock was taken, in ISO 8601. */
  when: string
}

export interface DirectoryLock {
  /** Releases the directory. A second call does nothing. */
  release (): Promise<void>
}

/**
 * Ensures that no other process, and nothing else in this one, has the data directory open. PGlite has no lock of its
 * own, and two processes on one cluster lose committed rows without an error.
 *
 * The lock of a process that has ended is replaced at once. No lock expires by time, because a busy process is
 * indistinguishable from a dead one.
 * @param path the data directory; created (mode 0700) with its parents when it is missing
 * @throws ProviderError when the directory is in use, is not a data directory or cannot be used
 */
export async function lockDirectory (path: string): Promise<DirectoryLock> {
  const directory = resolve(path)
  const file = join(directory, 'lock')
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await refuseForeign(directory)
    const start = (await processState(process.pid))?.start ?? null
    const holder: Holder = { pid: process.pid, start, host: hostname(), when: new Date().toISOString() }
    const text = JSON.stringify(holder) + '\n'
    await take(directory, file, text)
    let held = true
    return {
      release: async () => {
        if (held && await contentOf(file) === text) await rm(file, { force: true })
        held = false
      },
    }
  } catch (error) {
    if (error instanceof ProviderError) throw error
    throw new ProviderError(
      `vector_store: the data directory ${directory} cannot be used: ${messageOf(error)}`,
      error,
    )
  }
}

/** Otherwise a mistyped path would put a cluster into an unrelated directory. */
async function refuseForeign (directory: string): Promise<void> {
  // The root of a new volume contains lost+found.
  const names = (await readdir(directory)).filter((name) => name !== 'lost+found')
  if (names.length > 0 && !names.some((name) => /^(lock(\..+)?|db|db\.new)$/.test(name))) {
    throw new ProviderError(`vector_store: ${directory} is not a Memory Gateway data directory: it is not empty and ` +
      'has no db in it')
  }
}

/**
 * Creates the lock file with this text, unless a live process holds it. The file is linked when its content is
 * complete, so a lock is never partially written.
 *
 * The lock of a dead process is replaced by a rename, so that the file always exists. The right to do so is a lock
 * itself, named by a hash of the dead process's text, so that only one process replaces it. If that process dies in
 * between, its claim is replaced in the same way.
 */
async function take (directory: string, file: string, text: string): Promise<void> {
  const written = join(directory, `lock.${randomUUID()}`)
  // Flushed, because a power failure could otherwise leave an empty lock, which would have to be deleted by hand.
  await writeFile(written, text, { flag: 'wx', mode: 0o600, flush: true })
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (await linked(written, file)) return
      const found = await contentOf(file)
      if (found === undefined) continue
      await refuseLive(directory, file, found)
      const claim = join(directory, `lock.${createHash('sha256').update(found).digest('hex').slice(0, 16)}`)
      await take(directory, claim, text)
      try {
        // Another process may have held the claim before, and may have replaced the lock.
        if (await contentOf(file) === found) {
          await rename(written, file)
          return
        }
      } finally {
        await rm(claim, { force: true })
      }
    }
  } finally {
    await rm(written, { force: true })
  }
  throw new ProviderError(`vector_store: ${file} keeps changing: other processes are starting on ${directory}`)
}

/** @throws ProviderError unless the process that wrote the text has ended */
async function refuseLive (directory: string, file: string, text: string): Promise<void> {
  const holder = parse(text)
  if (holder === undefined) {
    throw new ProviderError(`vector_store: ${file} is not a lock of Memory Gateway; when nothing uses ${directory}, ` +
      'delete the file')
  }
  const { pid, host, when } = holder
  const use = `vector_store: ${directory} is in use by process ${pid} on ${host} since ${when}`
  if (host !== hostname()) {
    throw new ProviderError(`${use}, which cannot be seen from here; when that host is gone, delete ${file}`)
  }
  if (await isRunning(holder)) throw new ProviderError(`${use}; only one process can use a directory`)
}

async function isRunning ({ pid, start }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    if (codeOf(error) === 'ESRCH') return false
  }
  const state = await processState(pid)
  if (state === undefined) return true
  // A zombie has ended, but its parent has not reaped it.
  if (state.state === 'Z' || state.state === 'X') return false
  return start === null || state.start === start
}

/** From /proc/<pid>/stat; undefined where it cannot be read. */
async function processState (pid: number): Promise<{ state: string, start: string } | undefined> {
  let stat: string
  try {
    stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The second field is the program's name in parentheses, and may itself contain spaces and parentheses; the third
  // follows the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, start] = [fields[0], fields[22 - 3]]
  return state === undefined || start === undefined ? undefined : { state, start }
}

function parse (text: string): Holder | undefined {
  const value = parsedJson(text)
  if (typeof value !== 'object' || value === null) return undefined
  const { pid, start, host, when } = value as Record<string, unknown>
  // Zero and negative numbers denote process groups.
  if (!Number.isSafeInteger(pid) || Number(pid) <= 0 || typeof host !== 'string' || typeof when !== 'string') {
    return undefined
  }
  if (start !== null && typeof start !== 'string') return undefined
  return { pid: Number(pid), start, host, when }
}

/** @returns false when the file already exists */
async function linked (existing: string, file: string): Promise<boolean> {
  try {
    await link(existing, file)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

async function contentOf (file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function codeOf (error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, 'code') : undefined
}
