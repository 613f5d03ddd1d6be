import { tmpdir } from 'node:os'
import { ByteBudget, type ByteReservation } from '../../concurrency/byte-budget.js'
import { TokenCount } from '../../text/tokens.js'
import { turns } from '../../concurrency/turn-budget.js'
import type { Memory, Scan } from '../vector-store.js'
import { SpoolFile } from './spool-file.js'

/** Characters of memories kept in memory for all exports together; the rest is written to files. */
const MAX_MEMORY_CHARACTERS = 8 * 1024 * 1024
/** Overhead of a memory in characters, in addition to its text, tags and metadata. */
const MEMORY_OVERHEAD_CHARACTERS = 512
/** Default for the bytes of all files together. */
const MAX_FILE_BYTES = 1024 ** 3
/** Number of characters written at a time. */
const WRITE_CHARACTERS = 256 * 1024

export interface SpoolOptions {
  /** Maximum bytes of all files together. Default 1 GiB. */
  fileBytes?: number
  /** Maximum characters kept without a file, for all exports together. Default 8 Mi. */
  memoryCharacters?: number
  /** Folder for the files. Default: the system's temporary folder. */
  folder?: string
}

/** The space without files, shared by all exports. */
interface CharacterBudget {
  characters: number
}

/**
 * Holds banks that were read at database speed, for readers who may be slow: neither a connection nor a snapshot waits
 * for a client. Small banks stay in memory; the rest of large ones is in a file without a name until it has been read.
 */
export class Spools {
  readonly #folder: string
  readonly #files: ByteBudget
  readonly #budget: CharacterBudget
  readonly #open = new Set<Spool>()

  constructor (
    { fileBytes = MAX_FILE_BYTES, memoryCharacters = MAX_MEMORY_CHARACTERS, folder = tmpdir() }: SpoolOptions = {},
  ) {
    this.#folder = folder
    this.#files = new ByteBudget(fileBytes)
    this.#budget = { characters: memoryCharacters }
  }

  /**
   * @param caller as in TurnBudget.next
   * @returns a scan whose `return` frees the spool, whether it has been read from or not
   * @throws ServiceError server_busy when the files would exceed their limit; nothing is held then
   */
  async spool (pages: AsyncIterable<readonly Memory[]>, caller: string): Promise<Scan> {
    const spool = new Spool({
      budget: this.#budget,
      folder: this.#folder,
      fileBytes: this.#files.reserve(0, caller),
      onFree: () => { this.#open.delete(spool) },
    })
    this.#open.add(spool)
    try {
      for await (const page of pages) await spool.add(page, caller)
    } catch (error) {
      await spool.free()
      throw error
    }
    return { count: spool.count, memories: new SpooledMemories(spool, caller) }
  }

  /** Frees all unread spools. */
  async close (): Promise<void> {
    await Promise.all([...this.#open].map(async (spool) => { await spool.free() }))
  }
}

interface SpoolContext {
  budget: CharacterBudget
  folder: string
  /** The spool's share of the bytes in files. */
  fileBytes: ByteReservation
  onFree: () => void
}

/** One bank, held for its reader. */
class Spool {
  count = 0
  readonly #context: SpoolContext
  #inMemory: Memory[] = []
  #characters = 0
  #file: SpoolFile | undefined
  #isFree = false

  constructor (holding: SpoolContext) {
    this.#context = holding
  }

  async add (page: readonly Memory[], caller: string): Promise<void> {
    this.count += page.length
    let text = ''
    for (const memory of page) {
      if (this.#file === undefined && this.#addInMemory(memory)) continue
      this.#file ??= await this.#newFile()
      if (turns.isExhausted) await turns.next(caller)
      // JSON contains no raw line feed.
      text += `${JSON.stringify(memory)}\n`
      if (text.length < WRITE_CHARACTERS) continue
      await this.#write(text)
      text = ''
    }
    if (text !== '') await this.#write(text)
  }

  async * read (caller: string): AsyncGenerator<Memory, void> {
    try {
      yield * this.#inMemory
      this.#release()
      if (this.#file === undefined) return
      for await (const line of this.#file.lines()) {
        if (turns.isExhausted) await turns.next(caller)
        yield fromLine(line)
      }
    } finally {
      await this.free()
    }
  }

  /** A second call does nothing. */
  async free (): Promise<void> {
    if (this.#isFree) return
    this.#isFree = true
    this.#release()
    await this.#file?.close()
    this.#context.fileBytes.release()
    this.#context.onFree()
  }

  #addInMemory (memory: Memory): boolean {
    const { budget } = this.#context
    const characters = charactersOf(memory)
    if (characters > budget.characters) return false
    budget.characters -= characters
    this.#characters += characters
    this.#inMemory.push(memory)
    return true
  }

  #release (): void {
    this.#context.budget.characters += this.#characters
    this.#characters = 0
    this.#inMemory = []
  }

  /** The store may be closed while the file is being created. */
  async #newFile (): Promise<SpoolFile> {
    const file = await SpoolFile.create(this.#context.folder)
    if (this.#isFree) await file.close()
    return file
  }

  async #write (text: string): Promise<void> {
    const bytes = Buffer.from(text)
    this.#context.fileBytes.grow(bytes.length)
    await this.#file!.write(bytes)
  }
}

/** May be iterated once. `return` frees a spool before its first memory was read too, which a generator's does not. */
class SpooledMemories implements AsyncIterableIterator<Memory> {
  readonly #spool: Spool
  readonly #memories: AsyncGenerator<Memory, void>

  constructor (spool: Spool, caller: string) {
    this.#spool = spool
    this.#memories = spool.read(caller)
  }

  async next (): Promise<IteratorResult<Memory, void>> {
    return await this.#memories.next()
  }

  async return (): Promise<IteratorResult<Memory, void>> {
    await this.#memories.return()
    await this.#spool.free()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator] (): this {
    return this
  }
}

function charactersOf ({ text, tags, metadata }: Memory): number {
  let characters = MEMORY_OVERHEAD_CHARACTERS + text.length
  for (const tag of tags) characters += tag.length
  for (const [name, value] of Object.entries(metadata)) {
    characters += name.length + (typeof value === 'string' ? value.length : 8)
  }
  return characters
}

/** This process has written the line, so its form is known. */
function fromLine (line: string): Memory {
  const { tokens, ...memory } = JSON.parse(line) as Omit<Memory, 'tokens'> & { tokens: number }
  return { ...memory, tokens: TokenCount.known(tokens) }
}
