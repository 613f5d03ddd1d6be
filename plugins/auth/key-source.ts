import type { Clock } from '../../lib/time/clock.js'
import { ServiceError } from '../../lib/errors/service-error.js'
import { fetchJwks } from './jwks-fetch.js'
import { isKid, SigningKeys } from './signing-keys.js'
import { TokenRefused } from './token-refused.js'

const SECOND = 1000
/** How long keys are used without asking the provider again; a withdrawn key can keep working for that long. */
const FRESH_MS = 600 * SECOND
/** How long the last keys remain in use while the provider cannot be reached. */
const STALE_MS = 3600 * SECOND
/** The minimum time between two fetches for unknown keys, and between a failed fetch and the next. */
const COOLDOWN_MS = 30 * SECOND

interface KeySourceOptions {
  /** Time limit of one fetch in milliseconds, body included. Default 5000. */
  fetchTimeoutMs?: number
  /** Called for each failed fetch, also while older keys are still in use. */
  onFetchFailed?: (cause: unknown) => void
}

/**
 * The signing keys of an identity provider, by `kid`. Anybody can send a token with any `kid`, so tokens
 * with an unknown one cost the provider at most one fetch in 30 seconds and never displace a good key.
 */
export class KeySource {
  readonly #url: string
  readonly #clock: Clock
  readonly #fetchTimeoutMs: number
  readonly #onFetchFailed: (cause: unknown) => void
  #keys: SigningKeys | undefined
  #fetchedAt: number | undefined
  #failedAt: number | undefined
  #missedAt: number | undefined
  #failure: unknown
  #fetching: Promise<void> | undefined

  constructor (jwksUrl: string, clock: Clock, options: KeySourceOptions = {}) {
    this.#url = jwksUrl
    this.#clock = clock
    this.#fetchTimeoutMs = options.fetchTimeoutMs ?? 5 * SECOND
    this.#onFetchFailed = options.onFetchFailed ?? (() => {})
  }

  /**
   * @param kid from the token's header, not yet validated
   * @returns the RSA public key as PEM
   * @throws TokenRefused when the provider has no such key; ServiceError identity_provider_unavailable when no key
   *   is available
   */
  async pem (kid: unknown): Promise<string> {
    if (!isKid(kid)) throw new TokenRefused('unknown signing key')
    const askedAt = this.#clock()
    if (!this.#isFresh(askedAt) || this.#keys?.has(kid) !== true) {
      const refreshed = this.#refresh(kid)
      if (!this.#isOutage(askedAt) || this.#keysAt(askedAt)?.has(kid) !== true) await refreshed
    }

    const now = this.#clock()
    const keys = this.#keysAt(now)
    if (keys === undefined || keys.size === 0) throw this.#unavailable(now)
    const pem = keys.pem(kid)
    if (pem === undefined) throw new TokenRefused('unknown signing key')
    return pem
  }

  #isFresh (now: number): boolean {
    return isWithin(this.#fetchedAt, now, FRESH_MS)
  }

  /** Whether the last fetch failed, not long ago: a provider that hangs would make every caller wait in vain. */
  #isOutage (now: number): boolean {
    return isWithin(this.#failedAt, now, FRESH_MS)
  }

  /** The last keys, unless they are too old. */
  #keysAt (now: number): SigningKeys | undefined {
    return isWithin(this.#fetchedAt, now, STALE_MS) ? this.#keys : undefined
  }

  /** Waits for a fetch, a new one or one in progress; returns at once during a cooldown. Never rejects. */
  async #refresh (kid: string): Promise<void> {
    if (this.#fetching === undefined) {
      const now = this.#clock()
      if (isWithin(this.#failedAt, now, COOLDOWN_MS)) return
      if (this.#isFresh(now)) {
        if (isWithin(this.#missedAt, now, COOLDOWN_MS)) return
        this.#missedAt = now
      }
      this.#fetching = this.#fetch(kid, now).finally(() => { this.#fetching = undefined })
    }
    await this.#fetching
  }

  /** @param kid from the token that caused the fetch */
  async #fetch (kid: string, startedAt: number): Promise<void> {
    try {
      const keys = await SigningKeys.of(await fetchJwks(this.#url, this.#fetchTimeoutMs), this.#url)
      this.#keys = keys
      this.#fetchedAt = startedAt
      this.#failedAt = undefined
      this.#failure = undefined
      // Set before the fetch ends, so that the cooldown already applies to the next request with an unknown key.
      if (!keys.has(kid)) this.#missedAt = startedAt
    } catch (error) {
      this.#failedAt = startedAt
      this.#failure = error
      this.#onFetchFailed(error)
    }
  }

  #unavailable (now: number): ServiceError {
    const last = Math.max(this.#failedAt ?? 0, this.#missedAt ?? 0)
    const seconds = Math.min(Math.max(Math.ceil((last + COOLDOWN_MS - now) / SECOND), 1), COOLDOWN_MS / SECOND)
    return new ServiceError('identity_provider_unavailable', 'No signing key of the identity provider is available', {
      retryAfterSeconds: seconds,
      cause: this.#failure,
    })
  }
}

/** A clock that was set back gives a negative age. It counts as expired, so that the provider is asked again. */
function isWithin (since: number | undefined, now: number, span: number): boolean {
  if (since === undefined) return false
  const age = now - since
  return age >= 0 && age < span
}
