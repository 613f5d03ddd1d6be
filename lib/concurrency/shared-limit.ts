/** The share of a limit that one caller may hold, of what no other caller holds. */
const CALLER_SHARE = 0.75

/**
 * The most that one caller may hold of what all share: three times what it leaves free. So however much one caller
 * takes, others have room, and the next one may take three quarters of that. This is a dynamic threshold as in switches
 * with a shared memory (Choudhury and Hahne, 1998).
 */
export function callerLimit (limit: number, heldByOthers: number): number {
  return Math.ceil(CALLER_SHARE * (limit - heldByOthers))
}

/** Counts what callers hold of a limit that they share, such as bytes or requests. */
export class SharedLimit {
  readonly limit: number
  readonly #heldByCaller = new Map<string, number>()
  #held = 0

  constructor (limit: number) {
    this.limit = limit
  }

  /** What all callers hold. */
  get held (): number {
    return this.#held
  }

  heldBy (caller: string): number {
    return this.#heldByCaller.get(caller) ?? 0
  }

  /** Whether the caller may hold so much more. */
  fits (more: number, caller: string): boolean {
    const held = this.heldBy(caller)
    return held + more <= callerLimit(this.limit, this.#held - held)
  }

  /** @param more negative for what the caller no longer holds */
  add (more: number, caller: string): void {
    const held = this.heldBy(caller) + more
    if (held === 0) this.#heldByCaller.delete(caller)
    else this.#heldByCaller.set(caller, held)
    this.#held += more
  }
}
