/** The upper bound of the first bucket, in milliseconds. */
const FIRST = 0.1
/** The ratio of the bounds of neighbouring buckets: quantiles are exact to half of it, which is 12 percent. */
const RATIO = 1.25
/** The bound of the last bucket is more than two minutes. */
const BUCKETS = 64
const LOG_RATIO = Math.log(RATIO)

/** Counts durations in buckets of growing width, so that quantiles cost the same however many durations there are. */
export class DurationBuckets {
  readonly #counts = new Uint32Array(BUCKETS)
  #count = 0
  #longest = 0

  add (ms: number): void {
    const bucket = ms <= FIRST ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(ms / FIRST) / LOG_RATIO))
    this.#counts[bucket]!++
    this.#count++
    if (ms > this.#longest) this.#longest = ms
  }

  get longest (): number | null {
    return this.#count === 0 ? null : rounded(this.#longest)
  }

  /** @returns the middle of the bucket in which the quantile lies; null without durations */
  quantile (share: number): number | null {
    if (this.#count === 0) return null
    let left = Math.ceil(share * this.#count)
    let bucket = 0
    while (bucket < BUCKETS - 1 && left > this.#counts[bucket]!) left -= this.#counts[bucket++]!
    return rounded(Math.min(this.#longest, FIRST * RATIO ** (bucket - 0.5)))
  }

  clear (): void {
    this.#counts.fill(0)
    this.#count = 0
    this.#longest = 0
  }
}

function rounded (ms: number): number {
  return Math.round(ms * 1000) / 1000
}
