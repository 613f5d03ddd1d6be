import { execFile, execFileSync } from 'node:child_process'
import { mkdir, open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const PIECE = Buffer.alloc(256 * 1024)

/** A file system in memory that is small enough to be filled. */
export class SmallDisk {
  readonly path: string
  readonly #ballast: string
  readonly #onExit: () => void

  private constructor (path: string) {
    this.path = path
    this.#ballast = join(path, 'ballast')
    this.#onExit = () => { execFileSync('umount', ['--lazy', path], { stdio: 'ignore' }) }
    process.once('exit', this.#onExit)
  }

  /** @returns the reason as text when it cannot be mounted, for instance because only root may mount */
  static async mount (path: string, megabytes: number): Promise<SmallDisk | string> {
    await mkdir(path)
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tmpfs', path])
    } catch (error) {
      return 'a small file system cannot be mounted here: ' +
        `${error instanceof Error ? error.message.trim() : String(error)}`
    }
    return new SmallDisk(path)
  }

  /** Fills the free space, except for `leave` bytes. */
  async fill (leave: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.path)
    const file = await open(this.#ballast, 'w')
    try {
      for (let left = bavail * bsize - leave; left > 0; left -= PIECE.length) {
        await file.write(PIECE, 0, Math.min(left, PIECE.length))
      }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
    } finally {
      await file.close()
    }
  }

  async freeSpace (): Promise<void> {
    await rm(this.#ballast, { force: true })
  }

  async unmount (): Promise<void> {
    process.off('exit', this.#onExit)
    await run('umount', ['--lazy', this.path])
  }
}
