import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { RequestContext } from '../access/context.js'
import { type Clock, formatInstant } from '../base/clock.js'
import { giveWay, isDue } from '../base/event-loop.js'
import { type JsonBounds, readJson } from '../base/json-body.js'
import { resolvePointer } from '../base/json-object.js'
import { schemaCheck } from '../base/schema-check.js'
import { invalidField, ServiceError } from '../base/service-error.js'
import type { Settings, SourceSettings } from '../config/config.js'
import type { CallOptions, MemoryService } from './memory-service.js'
import { EVENT_COLUMNS, type RetainAnswer, RetainItem } from './schemas.js'

/** The largest difference between a signed timestamp and the clock. */
const TOLERANCE_SECONDS = 300
/** Bytes that are hashed before the event loop is yielded: about a millisecond. */
const CHUNK_BYTES = 262_144

export interface SignatureRule {
  secret: string
  /** Headers, lower-cased. */
  header: string
  timestampHeader?: string | undefined
}

/** Reads a header as Node does: a repeated one is one text with commas, which no signature or timestamp matches. */
type HeaderLookup = (name: string) => string | string[] | undefined

/**
 * HMAC-SHA256 in hex, with or without `sha256=`, over the raw body, or over `<timestamp>.<raw body>`.
 * The digests are compared in constant time. The event loop is yielded while a long body is hashed.
 */
export async function isSigned (
  rule: SignatureRule, header: HeaderLookup, body: Buffer, now: number,
): Promise<boolean> {
  const signature = header(rule.header)
  if (typeof signature !== 'string') return false
  const hmac = createHmac('sha256', rule.secret)
  if (rule.timestampHeader !== undefined) {
    const timestamp = header(rule.timestampHeader)
    if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp.trim())) return false
    if (Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false
    hmac.update(`${timestamp.trim()}.`)
  }
  const hex = signature.trim().replace(/^sha256=/i, '')
  if (!/^[0-9a-f]{64}$/i.test(hex)) return false
  for (let from = 0; from < body.length; from += CHUNK_BYTES) {
    if (isDue()) await giveWay()
    hmac.update(body.subarray(from, from + CHUNK_BYTES))
  }
  return timingSafeEqual(hmac.digest(), Buffer.from(hex, 'hex'))
}

/** The fields that a source reads from an event besides its content. */
const Extras = Type.Pick(RetainItem, EVENT_COLUMNS)
type Extras = Static<typeof Extras>

const checkExtras = schemaCheck(Extras)

/** One source's state, as operators see it. */
interface SourceReport {
  id: string
  type: 'webhook'
  target_bank: string
  healthy: boolean
  message: string
  last_event_at: string | null
  accepted: number
  rejected: number
}

/** A webhook: it authenticates senders, retains their events as one principal, and reports its health. */
export class WebhookSource {
  readonly id: string
  readonly #settings: SourceSettings
  readonly #memory: MemoryService
  readonly #clock: Clock
  readonly #bounds: JsonBounds
  readonly #context: RequestContext
  #accepted = 0
  #rejected = 0
  #lastEventAt: number | null = null
  #lastRefusal: string | undefined

  constructor (id: string, settings: SourceSettings, memory: MemoryService, clock: Clock, bounds: JsonBounds) {
    const { principal, tenantId, trust } = settings
    this.id = id
    this.#settings = settings
    this.#memory = memory
    this.#clock = clock
    this.#bounds = bounds
    this.#context = { principal, tenantId, trustCeiling: trust }
  }

  get requiresSignature (): boolean {
    return this.#settings.signature !== undefined
  }

  /** @throws ServiceError unauthenticated when the source requires a signature and the request has no valid one */
  async authenticate (header: HeaderLookup, body: Buffer): Promise<void> {
    const { signature } = this.#settings
    if (signature === undefined) return
    if (await isSigned(signature, header, body, this.#clock())) return
    throw new ServiceError('unauthenticated', 'Invalid or missing signature')
  }

  /**
   * Retains one event as the source's principal, under the same access control as any caller.
   * @param body the event as JSON, unparsed
   */
  async retain (body: Buffer, options?: CallOptions): Promise<RetainAnswer> {
    const event = readJson(body, this.#bounds)
    const item = { bank_id: this.#settings.targetBank, content: this.#content(event), ...readExtras(event) }
    const answer = await this.#memory.retain(item, this.#context, options)
    this.#accepted++
    this.#lastRefusal = undefined
    this.#lastEventAt = this.#clock()
    return answer
  }

  /**
   * Counts an event that was refused.
   * @param isAuthentic false when anybody can have sent it, so that it does not affect the reported health
   */
  recordRefusal ({ code }: ServiceError, isAuthentic: boolean): void {
    this.#rejected++
    if (!isAuthentic) return
    this.#lastRefusal = code
    this.#lastEventAt = this.#clock()
  }

  report (): SourceReport {
    return {
      id: this.id,
      type: 'webhook',
      target_bank: this.#settings.targetBank,
      healthy: this.#lastRefusal === undefined,
      message: this.#lastRefusal !== undefined
        ? `last event refused: ${this.#lastRefusal}`
        : this.#lastEventAt === null ? 'no event yet' : 'ok',
      last_event_at: this.#lastEventAt === null ? null : formatInstant(this.#lastEventAt),
      accepted: this.#accepted,
      rejected: this.#rejected,
    }
  }

  #content (event: unknown): string {
    const { contentPaths } = this.#settings
    // Null means absent, as for an optional field of a request.
    const valueAt = (path: string) => resolvePointer(event, path) ?? undefined
    const path = contentPaths.find((candidate) => valueAt(candidate) !== undefined) ?? contentPaths[0]!
    const content = valueAt(path)
    if (typeof content !== 'string') throw invalidField(path, content === undefined ? 'is required' : 'must be a text')
    return content
  }
}

export class WebhookSources {
  readonly #sources: ReadonlyMap<string, WebhookSource>

  constructor (settings: Settings['sources'], memory: MemoryService, clock: Clock, bounds: JsonBounds) {
    this.#sources = new Map(Object.entries(settings).map(([id, source]) => (
      [id, new WebhookSource(id, source, memory, clock, bounds)]
    )))
  }

  find (id: string): WebhookSource | undefined {
    return this.#sources.get(id)
  }

  /** @throws ServiceError not_found */
  get (id: string): WebhookSource {
    const source = this.find(id)
    if (source === undefined) throw new ServiceError('not_found', 'No such source')
    return source
  }

  report (): SourceReport[] {
    return [...this.#sources.values()].map((source) => source.report())
  }
}

/** Unknown fields of an event are ignored; the known ones must be valid. */
function readExtras (event: unknown): Extras {
  const fields = typeof event === 'object' && event !== null ? event as Record<string, unknown> : {}
  const extras: unknown = Object.fromEntries(EVENT_COLUMNS.flatMap((name) => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    return value === undefined || value === null ? [] : [[name, value]]
  }))
  return checkExtras(extras)
}
