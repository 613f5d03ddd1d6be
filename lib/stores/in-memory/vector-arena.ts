import { readFileSync } from 'node:fs'
import { ServiceError } from '../../errors/service-error.js'

const PAGE_BYTES = 65_536
const MAX_SIZE_CLASS = 32
const MIN_SIZE_CLASS = 6
const MAX_BYTES = 2 ** MAX_SIZE_CLASS
const GROWTH_BYTES = 16 * PAGE_BYTES
const FLOAT_BYTES = 4
const MODULE_URL = new URL('./vectors.wasm', import.meta.url)

/**
 * Maximum number of rows that one call of `dotProducts` scores. Small, so that the scores of a block stay in the L1
 * cache.
 */
export const BLOCK_ROWS = 1024

/** Rows are padded with zeros to a multiple of this many bytes, the size of a SIMD register. */
export const ROW_ALIGNMENT = 16

// The part of the WebAssembly JavaScript interface (https://www.w3.org/TR/wasm-js-api-2/) used here: TypeScript
// declares it only in the browser's library.
declare namespace WebAssembly {
  class Memory {
    constructor (descriptor: { initial: number, maximum: number })
    readonly buffer: ArrayBuffer
    grow (pages: number): number
  }
  class Module {
    constructor (bytes: Uint8Array)
  }
  class Instance {
    constructor (module: Module, imports: { env: { memory: Memory } })
    readonly exports: object
  }
}

/** The export of assembly/vectors.ts: all parameters but `count` are in bytes. */
type DotProducts = (query: number, rows: number, count: number, stride: number, scores: number) => void

/** A range of bytes, allocated until it is freed. */
export interface Extent {
  /** Byte offset in the arena, a multiple of `bytes`. */
  readonly offset: number
  /** A power of two. */
  readonly bytes: number
}

interface VectorArenaOptions {
  /** Maximum memory in bytes, rounded to whole pages of 64 KiB. Default and upper limit: the 4 GiB of WebAssembly. */
  maximumBytes?: number
  /** The compiled assembly/vectors.ts. Default: vectors.wasm beside this file. */
  moduleUrl?: URL
}

/**
 * The vectors of all banks in one WebAssembly memory, and the SIMD loop that scores them.
 *
 * One memory and not one for each bank, because V8 reserves some 10 GB of address space for every memory.
 * Extents come from a buddy system (Knuth, The Art of Computer Programming, vol. 1, section 2.5): sizes are
 * powers of two, a large free extent is split for a small one, and halves that are both free are joined again.
 * Nothing is loaded or allocated before the first extent. WebAssembly cannot shrink a memory: what is freed is
 * used again and not given back to the system.
 */
export class VectorArena {
  readonly #maximumBytes: number
  readonly #moduleUrl: URL
  /** Offsets of the free extents of 2 ** index bytes. Initially they cover the memory up to its limit, grown or not. */
  readonly #free = Array.from({ length: MAX_SIZE_CLASS + 1 }, () => new Set<number>())
  #wasm: { memory: WebAssembly.Memory, dotProducts: DotProducts } | undefined
  #floats = new Float32Array(0)
  /** Scores of one block, followed by the query. */
  #scratch: Extent | undefined
  #usedBytes = 0

  constructor (options: VectorArenaOptions = {}) {
    const limitBytes = Math.min(options.maximumBytes ?? MAX_BYTES, MAX_BYTES)
    this.#maximumBytes = limitBytes - limitBytes % PAGE_BYTES
    this.#moduleUrl = options.moduleUrl ?? MODULE_URL
    let offset = 0
    for (let sizeClass = MAX_SIZE_CLASS; sizeClass >= 0; sizeClass--) {
      if (offset + 2 ** sizeClass > this.#maximumBytes) continue
      this.#free[sizeClass]!.add(offset)
      offset += 2 ** sizeClass
    }
  }

  /** Bytes of allocated extents, including the scratch of the scans. */
  get usedBytes (): number {
    return this.#usedBytes
  }

  /** Bytes that the WebAssembly memory has grown to. */
  get reservedBytes (): number {
    return this.#floats.byteLength
  }

  /** The memory as floats. To be read again after `allocate` and `double`: growth detaches the previous view. */
  get floats (): Float32Array {
    return this.#floats
  }

  /**
   * @param bytes minimum size; the extent has the next power of two, and its content is undefined
   * @throws ServiceError `dependency_unavailable` when the arena is full; nothing has changed then
   * @throws Error when vectors.wasm was not built
   */
  allocate (bytes: number): Extent {
    const sizeClass = Math.max(MIN_SIZE_CLASS, Math.ceil(Math.log2(bytes)))
    let found = sizeClass
    while (found <= MAX_SIZE_CLASS && this.#free[found]!.size === 0) found++
    if (found > MAX_SIZE_CLASS) throw this.#full(bytes)
    const offset: number = this.#free[found]!.values().next().value!
    const extent = { offset, bytes: 2 ** sizeClass }
    this.#reserve(offset + extent.bytes)
    this.#free[found]!.delete(offset)
    while (found > sizeClass) {
      found--
      this.#free[found]!.add(offset + 2 ** found)
    }
    this.#usedBytes += extent.bytes
    return extent
  }

  /** @param extent the latest one returned by `allocate`, `double` or `halve`; freed only once */
  free (extent: Extent): void {
    let { offset } = extent
    let sizeClass = Math.log2(extent.bytes)
    while (sizeClass < MAX_SIZE_CLASS) {
      const buddy = (offset ^ 2 ** sizeClass) >>> 0
      if (!this.#free[sizeClass]!.delete(buddy)) break
      offset = Math.min(offset, buddy)
      sizeClass++
    }
    this.#free[sizeClass]!.add(offset)
    this.#usedBytes -= extent.bytes
  }

  /**
   * Doubles an extent, in place if its neighbour is free: that saves the copy, and a single growing index can fill half
   * of the arena.
   * @returns the extent that replaces `extent`, with its content
   * @throws like `allocate`
   */
  double (extent: Extent): Extent {
    const { offset, bytes } = extent
    const neighbour = offset + bytes
    const siblings = this.#free[Math.log2(bytes)]!
    if (offset % (2 * bytes) === 0 && siblings.has(neighbour)) {
      this.#reserve(neighbour + bytes)
      siblings.delete(neighbour)
      this.#usedBytes += bytes
      return { offset, bytes: 2 * bytes }
    }
    const larger = this.allocate(2 * bytes)
    this.#floats.copyWithin(larger.offset / FLOAT_BYTES, offset / FLOAT_BYTES, neighbour / FLOAT_BYTES)
    this.free(extent)
    return larger
  }

  /**
   * Frees the upper half. Cannot fail and copies nothing.
   * @returns the lower half, which replaces `extent`
   */
  halve (extent: Extent): Extent {
    const bytes = extent.bytes / 2
    this.free({ offset: extent.offset + bytes, bytes })
    return { offset: extent.offset, bytes }
  }

  /**
   * Allocates the scratch for scans of rows of `stride` bytes. Called before the rows are stored, so that stored rows
   * can be searched however full the arena is.
   * @throws like `allocate`
   */
  prepareScan (stride: number): void {
    const bytes = BLOCK_ROWS * FLOAT_BYTES + stride
    const old = this.#scratch
    if (old !== undefined && old.bytes >= bytes) return
    this.#scratch = this.allocate(bytes)
    if (old !== undefined) this.free(old)
  }

  /**
   * @param query padded with zeros to the length of a row
   * @param rows byte offset of the first row; `prepareScan` was called with the length of the rows
   * @param count rows to score, at most BLOCK_ROWS
   * @returns a copy of the dot products of the query with each row
   */
  dotProducts (query: Float32Array, rows: number, count: number): Float32Array {
    const wasm = this.#wasm ??= this.#load()
    const scores = this.#scratch!.offset
    const copyOfQuery = scores + BLOCK_ROWS * FLOAT_BYTES
    this.#floats.set(query, copyOfQuery / FLOAT_BYTES)
    wasm.dotProducts(copyOfQuery, rows, count, query.byteLength, scores)
    return this.#floats.slice(scores / FLOAT_BYTES, scores / FLOAT_BYTES + count)
  }

  #reserve (end: number): void {
    const { memory } = this.#wasm ??= this.#load()
    const missing = end - this.reservedBytes
    if (missing <= 0) return
    const step = Math.min(Math.max(missing, GROWTH_BYTES), this.#maximumBytes - this.reservedBytes)
    try {
      memory.grow(Math.ceil(step / PAGE_BYTES))
    } catch (cause) {
      throw this.#full(missing, cause)
    }
    this.#floats = new Float32Array(memory.buffer)
  }

  #load (): { memory: WebAssembly.Memory, dotProducts: DotProducts } {
    let bytes
    try {
      bytes = readFileSync(this.#moduleUrl)
    } catch (cause) {
      throw new Error(
        `The vector module ${this.#moduleUrl.href} cannot be read; \`npm run build\` makes it.`, { cause },
      )
    }
    const memory = new WebAssembly.Memory({ initial: 0, maximum: this.#maximumBytes / PAGE_BYTES })
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } })
    return { memory, dotProducts: (exports as { dotProducts: DotProducts }).dotProducts }
  }

  #full (bytes: number, cause?: unknown): ServiceError {
    const detail = `The in-memory vector store is full: ${bytes} bytes more do not fit, ` +
      `${this.#usedBytes} of ${this.#maximumBytes} are in use.`
    return new ServiceError('dependency_unavailable', detail, { cause })
  }
}
