import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { atCapacity, ServiceError } from '../../errors/service-error.js'
import { spoolName } from './spool-leftovers.js'

const CHUNK_BYTES = 256 * 1024
const LINE_FEED = 10
const CAPACITY_ERRORS = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE'])
/** O_TMPFILE of Linux, for which Node.js has no constant: the file never has a name. */
const UNNAMED_FILE_FLAGS = constants.O_RDWR | constants.O_DIRECTORY | 0o20000000

/**
 * Lines in a temporary file without a name: the system deletes it with the last descriptor, so that even a killed
 * process leaves nothing behind. Where a file needs a name at first, it is unlinked before anything is written.
 */
export class SpoolFile {
  readonly #handle: FileHandle
  /** Path of the file, on a system that cannot unlink an open file. */
  readonly #path: string | undefined
  #closed: Promise<void> | undefined

  private constructor (handle: FileHandle, path: string | undefined) {
    this.#handle = handle
    this.#path = path
  }

  /**
   * @param nameless whether to try a file that never has a name; not every file system supports it
   * @throws ServiceError when no file can be created
   */
  static async create (folder: string, nameless = process.platform === 'linux'): Promise<SpoolFile> {
    if (nameless) {
      const handle = await open(folder, UNNAMED_FILE_FLAGS, 0o600).catch(() => undefined)
      if (handle !== undefined) return new SpoolFile(handle, undefined)
    }
    const path = join(folder, spoolName(process.pid, randomBytes(8).toString('hex')))
    return await withCapacityErrors(async () => {
      const handle = await open(path, 'wx+', 0o600)
      const named = await rm(path).then(() => false, () => true)
      return new SpoolFile(handle, named ? path : undefined)
    })
  }

  /** Appends. @throws ServiceError when the disk is full */
  async write (text: Buffer): Promise<void> {
    await withCapacityErrors(async () => { await this.#handle.writeFile(text) })
  }

  /** From the first line on, without line feeds. */
  async * lines (): AsyncGenerator<string> {
    let rest: Buffer = Buffer.alloc(0)
    for (let position = 0; ;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      const { bytesRead } = await withCapacityErrors(async () => (
        await this.#handle.read(chunk, 0, CHUNK_BYTES, position)
      ))
      if (bytesRead === 0) return
      position += bytesRead
      let start = 0
      const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)])
      for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
        yield bytes.toString('utf8', start, end)
        start = end + 1
      }
      rest = bytes.subarray(start)
    }
  }

  /** Deletes the file, once. */
  async close (): Promise<void> {
    this.#closed ??= this.#close()
    await this.#closed
  }

  async #close (): Promise<void> {
    await this.#handle.close().catch(() => {})
    if (this.#path !== undefined) await rm(this.#path, { force: true }).catch(() => {})
  }
}

async function withCapacityErrors<T> (work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!CAPACITY_ERRORS.has(code)) {
      throw new ServiceError('dependency_unavailable', 'The export has no temporary file', { cause: error })
    }
    throw atCapacity('server_busy', 'The server has no disk space or no file handle for the export; try again', error)
  }
}
