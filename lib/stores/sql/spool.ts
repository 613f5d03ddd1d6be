import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Memory } from '../vector-store.js'

/** Characters of memories that are held in the process; what is beyond them goes to a file. */
const HELD = 8 * 1024 * 1024
const LINE_FEED = 10

/**
 * Holds a bank that was read at database speed, for a reader who may be slow: no connection and no snapshot waits for a client.
 * Small banks stay in memory; of large ones the rest is in a file of a temporary folder until it has been read.
 */
export class Spools {
  #folder: Promise<string> | undefined
  #number = 0

  async spool (pages: AsyncIterable<Memory[]>): Promise<{ count: number, memories: AsyncIterable<Memory> }> {
    const held: Memory[] = []
    let file: { path: string, handle: FileHandle } | undefined
    let count = 0
    let size = 0
    try {
      for await (const page of pages) {
        count += page.length
        if (size < HELD) {
          held.push(...page)
          size += page.reduce((sum, { text }) => sum + text.length, 0)
          continue
        }
        file ??= await this.#create()
        // JSON has no raw line feed.
        await file.handle.writeFile(page.map((memory) => `${JSON.stringify(memory)}\n`).join(''))
      }
    } catch (error) {
      if (file !== undefined) await rm(file.path, { force: true })
      throw error
    } finally {
      await file?.handle.close()
    }
    return { count, memories: read(held, file?.path) }
  }

  /** Removes what nobody has read. */
  async close (): Promise<void> {
    if (this.#folder !== undefined) await rm(await this.#folder, { recursive: true, force: true })
  }

  async #create (): Promise<{ path: string, handle: FileHandle }> {
    this.#folder ??= mkdtemp(join(tmpdir(), 'memory-gateway-'))
    const path = join(await this.#folder, `export-${++this.#number}.ndjson`)
    return { path, handle: await open(path, 'wx', 0o600) }
  }
}

async function * read (held: readonly Memory[], path: string | undefined): AsyncGenerator<Memory> {
  if (path === undefined) {
    yield * held
    return
  }
  try {
    yield * held
    let rest: Buffer = Buffer.alloc(0)
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      let start = 0
      const bytes = Buffer.concat([rest, chunk])
      for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
        yield JSON.parse(bytes.toString('utf8', start, end)) as Memory
        start = end + 1
      }
      rest = bytes.subarray(start)
    }
  } finally {
    await rm(path, { force: true })
  }
}
