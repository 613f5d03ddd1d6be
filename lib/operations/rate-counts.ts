import type * as Limiters from 'rate-limiter-flexible'
import { ServiceError } from '../base/service-error.js'
import type { Settings } from '../config/config.js'
import { requirePackages } from '../models/packages.js'
import { RATE_LIFETIME_SECONDS, type VectorStore } from '../stores/vector-store.js'

/** A use that was counted. */
export interface CountedUse {
  /** The count with it. */
  total: number
  /** Takes it back, where it was counted. */
  giveBack (): Promise<void>
}

/** Where the use of rate limits is counted. */
export interface RateCounts {
  /** @throws ServiceError dependency_unavailable */
  add (use: RateUse): Promise<CountedUse>
  /** Whether the place is reached. Undefined: it is this process or the vector store. */
  status? (): RatePlaceStatus
  close? (): Promise<void>
}

export interface RatePlaceStatus {
  isUp: boolean
  /** Whether limited operations fail while it is down. */
  refuses: boolean
}

export interface RateUse {
  /** The number of the minute since the epoch. */
  minute: number
  /** Begins with the key of the bank. */
  key: string
  amount: number
}

/** The gateway compares counts with limits itself, because banks and reloads change these. */
const UNBOUNDED = { points: Number.MAX_SAFE_INTEGER, keyPrefix: '' }
/**
 * The most bytes of counts of a process, some 100,000 with short names. Beyond that the counts of the minute begin
 * anew, which forgives each caller at most one minute's use.
 */
const MAX_BYTES = 40_000_000

let loading: Promise<typeof Limiters> | undefined

/** Loaded for the first operation with a limit: it takes tens of milliseconds. */
async function library (): Promise<typeof Limiters> {
  return await (loading ??= import('rate-limiter-flexible'))
}

/** Counts in this process. Those of a past minute are dropped together, so that none needs a timer. */
export class ProcessRates implements RateCounts {
  #minute = NaN
  #bytes = 0
  #counts: Limiters.RateLimiterMemory | undefined

  async add ({ minute, key, amount }: RateUse): Promise<CountedUse> {
    const { RateLimiterMemory } = await library()
    if (this.#counts === undefined || minute !== this.#minute || this.#bytes > MAX_BYTES) {
      this.#minute = minute
      this.#bytes = 0
      this.#counts = new RateLimiterMemory({ ...UNBOUNDED, duration: 0 })
    }
    const counts = this.#counts
    const { consumedPoints: total, isFirstInDuration: isNew } = await counts.penalty(key, amount)
    if (isNew) this.#bytes += 250 + 2 * key.length
    return { total, giveBack: async () => { await counts.reward(key, amount) } }
  }
}

/** The time is in the key, so that the clock of the gateways alone decides when a minute ends. */
function keyOf ({ minute, key }: RateUse): string {
  return `${key} ${minute}`
}

function storeRates (countRate: NonNullable<VectorStore['countRate']>): RateCounts {
  return {
    add: async (use) => {
      const key = keyOf(use)
      return {
        total: await countRate(key, use.amount),
        giveBack: async () => { await countRate(key, -use.amount) },
      }
    },
  }
}

/** The longest pause between two attempts to connect, in milliseconds. */
const MAX_RECONNECT_MS = 1000

/** Counts in Valkey or Redis; while it is down, each process counts by itself or limited operations are refused. */
async function openRedis (
  { url = '', keyPrefix, timeoutMs, whenDown }: Settings['limitsStore'], { warn, info }: Log,
): Promise<RateCounts> {
  requirePackages('limits_store: redis', ['ioredis'])
  const [{ Redis }, { RateLimiterRedis }] = await Promise.all([import('ioredis'), library()])
  const client = new Redis(url, {
    lazyConnect: true,
    // A command is never sent twice, and never waits for a connection.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    // Ends a connection that answers nothing.
    socketTimeout: timeoutMs,
    retryStrategy: (attempts) => Math.min(attempts * 50, MAX_RECONNECT_MS),
  })
  const counts = new RateLimiterRedis({
    ...UNBOUNDED, storeClient: client, keyPrefix, duration: RATE_LIFETIME_SECONDS, rejectIfRedisNotReady: true,
  })
  const local = new ProcessRates()
  let isUp = true
  let isClosing = false
  const note = (found: boolean, reason = 'the connection was lost') => {
    if (found === isUp || isClosing) return
    isUp = found
    if (found) return info('limits_store: it is reached again, and counts for all gateways')
    warn(`limits_store: it cannot be reached (${reason}); until it is, ${whenDown === 'local'
      ? 'this process counts the rate limits by itself'
      : 'operations with rate limits are answered 503'}`)
  }
  client.on('error', (error: Error) => { note(false, reasonOf(error)) })
  client.on('close', () => { note(false) })
  client.on('ready', () => { note(true) })
  // The gateway starts without it, and connects as soon as it can.
  await client.connect().catch((error: unknown) => { note(false, reasonOf(error)) })
  return {
    add: async (use) => {
      const key = keyOf(use)
      try {
        const { consumedPoints: total } = await counts.penalty(key, use.amount)
        note(true)
        return { total, giveBack: async () => { await counts.reward(key, use.amount) } }
      } catch (error) {
        note(false, reasonOf(error))
        // Its own error may hold the command, which names callers and banks.
        if (whenDown === 'refuse') throw unavailable(reasonOf(error))
        return await local.add(use)
      }
    },
    status: () => ({ isUp, refuses: whenDown === 'refuse' }),
    close: async () => {
      isClosing = true
      client.disconnect()
    },
  }
}

function unavailable (reason: string): ServiceError {
  return new ServiceError('dependency_unavailable', 'The store of rate limits is unavailable', {
    cause: new Error(`limits_store: ${reason}`),
  })
}

/** Replies of the server and errors of connections hold no values, except those about a command. */
function reasonOf (error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code: unknown = Reflect.get(error, 'code')
  if (typeof code === 'string') return code
  return error.name === 'ReplyError' ? error.message.split(' ')[0] ?? error.name : error.message
}

interface Log {
  warn: (message: string) => void
  info: (message: string) => void
}

/** @throws ProviderError when the package of the client is not installed */
export async function openRateCounts (
  settings: Settings['limitsStore'], store: VectorStore, log: Log,
): Promise<RateCounts> {
  if (settings.type === 'redis') return await openRedis(settings, log)
  const { countRate } = store
  return settings.type === 'vector_store' && countRate !== undefined ? storeRates(countRate) : new ProcessRates()
}
