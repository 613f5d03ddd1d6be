import { DERIVED, type Memory } from '../../stores/vector-store.js'
import { readSignals, type Signals } from './signals.js'

/** The most characters of all cached memories together. Their number is bounded too, but a text can have 50,000. */
const MAX_CACHED_CHARACTERS = 16_000_000

/** The length of an array that the hashes of cached signals share. */
const HASHES_PER_ARRAY = 16_384

/**
 * Reads signals and caches those of recently found memories, in two generations: when the younger is full, the older
 * one is dropped. Unlike an LRU list this keeps no order, which matters because every recall reads a hundred.
 *
 * Memories are found in the cache by their id. A memory object with a place for it (`DERIVED`) also refers to its
 * signals, because a hundred look-ups in a map of thousands take a tenth of a recall. Only signals in one of the two
 * generations are referred to, so that the number of those that are kept stays bounded.
 */
export class SignalReader {
  readonly #size: number
  #recent = new Map<string, Signals>()
  #old = new Map<string, Signals>()
  #characters = 0
  /** The hashes of the younger generation. */
  #hashes = new Int32Array(0)
  #hashCount = 0

  /** @param size the most memories whose signals are cached */
  constructor (size = 20_000) {
    this.#size = size
  }

  /** Signals depend on the memory alone and an entry is compared with it, so the same id in two banks does no harm. */
  read (memory: Memory): Signals {
    const cached = this.known(memory)
    if (cached !== undefined) return cached
    const signals = readSignals(memory)
    this.#keep(memory, signals)
    return signals
  }

  /** The cached signals of a memory. Computing them again takes a few tenths of a millisecond. */
  known (memory: Memory): Signals | undefined {
    const derived = memory[DERIVED] as Signals | undefined
    return derived?.generation === this.#recent ? derived : this.#knownById(memory)
  }

  #knownById (memory: Memory): Signals | undefined {
    const { memoryId } = memory
    const signals = this.#recent.get(memoryId) ?? this.#old.get(memoryId)
    if (signals === undefined || !isCurrent(signals, memory)) return undefined
    if (signals.generation === this.#recent) attach(signals, memory)
    else this.#keep(memory, signals)
    return signals
  }

  #keep (memory: Memory, signals: Signals): void {
    if (this.#recent.size >= this.#size / 2 || this.#characters > MAX_CACHED_CHARACTERS / 2) this.#startGeneration()
    const { memoryId } = memory
    for (const generation of [this.#recent, this.#old]) {
      const replaced = generation.get(memoryId)
      if (replaced !== undefined) detach(replaced)
    }
    this.#moveHashes(signals)
    this.#recent.set(memoryId, signals)
    signals.generation = this.#recent
    attach(signals, memory)
    this.#characters += charactersOf(memory)
  }

  #startGeneration (): void {
    for (const signals of this.#old.values()) if (signals.generation === this.#old) detach(signals)
    this.#old = this.#recent
    this.#recent = new Map()
    this.#characters = 0
    this.#hashes = new Int32Array(0)
    this.#hashCount = 0
  }

  /** Copies them, so that no array of a generation that was dropped is kept. */
  #moveHashes (signals: Signals): void {
    const { hashes, hashesFrom, hashesTo } = signals
    const count = hashesTo - hashesFrom
    if (this.#hashCount + count > this.#hashes.length) {
      this.#hashes = new Int32Array(Math.max(HASHES_PER_ARRAY, count))
      this.#hashCount = 0
    }
    this.#hashes.set(hashes.subarray(hashesFrom, hashesTo), this.#hashCount)
    signals.hashes = this.#hashes
    signals.hashesFrom = this.#hashCount
    signals.hashesTo = this.#hashCount += count
  }
}

/** Makes a memory object refer to its signals, and no other object. */
function attach (signals: Signals, memory: Memory): void {
  if (signals.holder === memory) return
  detach(signals)
  if (!(DERIVED in memory)) return
  memory[DERIVED] = signals
  signals.holder = memory
}

function detach (signals: Signals): void {
  if (signals.holder?.[DERIVED] === signals) signals.holder[DERIVED] = undefined
  signals.holder = undefined
}

/** Whether the signals are of the memory's present text: an import can replace the text under an id. */
function isCurrent ({ text, statedSpeaker }: Signals, memory: Memory): boolean {
  return text === memory.text && statedSpeaker === memory.speaker
}

/** Of everything that is kept with the signals of a memory after the memory itself is removed. */
function charactersOf ({ text, tags, metadata }: Memory): number {
  let characters = text.length
  for (const tag of tags) characters += tag.length
  for (const [key, value] of Object.entries(metadata)) characters += key.length + String(value).length
  return characters
}
