/**
 * Maximum size of all cached answers, in characters of JSON. Beyond it answers are evicted before their 24 hours have
 * passed.
 */
const MAX_CHARACTERS = 16 * 1024 * 1024
/** The share that is left after an eviction, so that not every further answer causes one. */
const REMAINING_SHARE = 15 / 16
/** The memory of an entry besides its texts, and of a caller, in characters. */
const ENTRY_CHARACTERS = 128
const CALLER_CHARACTERS = 512

export interface CachedAnswer {
  fingerprint: string
  answer: string
  /** Milliseconds. */
  cachedAt: number
}

/** The cached answers of one caller, the oldest first. */
interface CallerAnswers {
  readonly answers: Map<string, CachedAnswer>
  characters: number
}

/**
 * Answers by caller and idempotency key. When there are too many, the callers with most lose their oldest ones, so that
 * a caller with many keys does not make those of others repeat their work.
 */
export class AnswerCache {
  readonly #maxCharacters: number
  readonly #callers = new Map<string, CallerAnswers>()
  #characters = 0

  constructor (maxCharacters = MAX_CHARACTERS) {
    this.#maxCharacters = maxCharacters
  }

  get (caller: string, key: string): CachedAnswer | undefined {
    return this.#callers.get(caller)?.answers.get(key)
  }

  set (caller: string, key: string, answer: CachedAnswer): void {
    this.#remove(caller, key)
    let own = this.#callers.get(caller)
    if (own === undefined) {
      own = { answers: new Map(), characters: 0 }
      this.#callers.set(caller, own)
      this.#count(own, CALLER_CHARACTERS + caller.length)
    }
    own.answers.set(key, answer)
    this.#count(own, sizeOf(key, answer))
    if (this.#characters > this.#maxCharacters) this.#evict()
  }

  /** Each pass over the callers lowers what one of them may keep, until the answers of all fit. */
  #evict (): void {
    const target = this.#maxCharacters * REMAINING_SHARE
    for (let most = this.#maxCharacters / 2; this.#characters > target; most /= 2) {
      for (const [caller, own] of this.#callers) {
        for (const key of own.answers.keys()) {
          if (own.characters <= most || this.#characters <= target) break
          this.#remove(caller, key)
        }
      }
    }
  }

  #remove (caller: string, key: string): void {
    const own = this.#callers.get(caller)
    const answer = own?.answers.get(key)
    if (own === undefined || answer === undefined) return
    own.answers.delete(key)
    this.#count(own, -sizeOf(key, answer))
    if (own.answers.size > 0) return
    this.#callers.delete(caller)
    this.#characters -= own.characters
  }

  #count (own: CallerAnswers, characters: number): void {
    own.characters += characters
    this.#characters += characters
  }
}

function sizeOf (key: string, { answer, fingerprint }: CachedAnswer): number {
  return answer.length + key.length + fingerprint.length + ENTRY_CHARACTERS
}
