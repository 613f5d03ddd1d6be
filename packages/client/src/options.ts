/** Gives the bearer token. @param rejected the token that the gateway has just refused with 401; otherwise undefined */
export type TokenSource = (rejected?: string) => string | Promise<string>

export interface ClientOptions {
  /** Where the gateway is, `https://memory.example.com` for instance; a path before `/v1` is kept. */
  baseUrl: string | URL
  /** `X-Api-Key`: the shared secret of a gateway in api_key mode. */
  apiKey?: string
  /**
   * `Authorization: Bearer`, for a gateway in one of the JWT modes. A function is called for every try, and once more
   * after a 401; it keeps tokens itself.
   */
  token?: string | TokenSource
  /** `X-Service-Principal`, `<type>:<id>`: who is asking, in dev and api_key mode. */
  principal?: string
  /** `X-Service-On-Behalf-Of`, `<type>:<id>`: for whom, where the gateway has this switched on. */
  onBehalfOf?: string
  /** More headers of every request. */
  headers?: Readonly<Record<string, string>>
  /** Milliseconds that a call may take, with all its tries; of a stream, milliseconds of silence. Default 60000. */
  timeoutMs?: number
  /** Tries after the first. Default 4. */
  retries?: number
  /** In the place of the global one. */
  fetch?: typeof globalThis.fetch
  /** In the place of chance and time, for tests. */
  timing?: Partial<Timing>
}

/** What every call takes beside its request. */
export interface CallOptions {
  /** Ends the call; its reason is thrown. */
  signal?: AbortSignal
  /** In the place of the client's. */
  timeoutMs?: number
  /** In the place of the client's. */
  retries?: number
  /** `X-Request-Id`: 1–128 visible ASCII characters, the same in all tries. */
  requestId?: string
}

/** What a write takes beside its request. */
export interface WriteOptions extends CallOptions {
  /**
   * `Idempotency-Key`, 1–255 visible ASCII characters. Made by the client unless it is given; one that outlives the
   * process makes a call safe to repeat within 24 hours.
   */
  idempotencyKey?: string
}

export interface Timing {
  /** Within 0–1. */
  random: () => number
  /** Settles after the time, or rejects with the signal's reason. */
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>
  /** Milliseconds since 1970. */
  now: () => number
}
