import { Type, type Static } from 'typebox'
import { formatInstant, type Clock } from '../time/clock.js'
import type { SourceConfig } from '../config/schema.js'
import { invalidField, ServiceError } from '../errors/service-error.js'
import { readJson } from '../validation/json-body.js'
import type { JsonBounds } from '../validation/json-guard.js'
import { callerOf, type RequestContext } from '../identity/context.js'
import type { MemoryService } from '../memory/service.js'
import { RetainItem, type RetainAnswer } from '../memory/schemas.js'
import { schemaCheck } from '../validation/schema-check.js'
import { resolvePointer } from './pointer.js'
import { isSigned, type HeaderLookup, type SignatureRule } from './signature.js'

const DEFAULT_HEADER = 'X-Signature-256'
const DEFAULT_CONTENT_PATHS = ['/content', '/text']

/** The fields that a source reads from an event beside its content. */
const Extras = Type.Pick(RetainItem, ['metadata', 'tags', 'occurred_at'])
type Extras = Static<typeof Extras>
const EXTRA_NAMES = ['metadata', 'tags', 'occurred_at'] as const

const checkExtras = schemaCheck(Extras)

/** One source's state, as operators see it. */
export interface SourceReport {
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
  readonly #config: SourceConfig
  readonly #memory: MemoryService
  readonly #clock: Clock
  readonly #rule: SignatureRule | undefined
  readonly #bounds: JsonBounds
  readonly #context: RequestContext
  #accepted = 0
  #rejected = 0
  #lastEventAt: number | null = null
  #lastRefusal: string | undefined

  constructor (id: string, config: SourceConfig, memory: MemoryService, clock: Clock, bounds: JsonBounds) {
    const { principal = `service:${id}`, tenant_id: tenantId = null, auth, trust = auth.type === 'none' ? 'untrusted' : 'trusted' } = config
    this.id = id
    this.#config = config
    this.#memory = memory
    this.#clock = clock
    this.#rule = signatureRule(config)
    this.#bounds = bounds
    this.#context = { principal, tenantId, trustCeiling: trust }
  }

  /** @throws ServiceError unauthenticated when the source requires a signature and the request has no valid one */
  async authenticate (header: HeaderLookup, body: Buffer): Promise<void> {
    if (this.#rule === undefined || await isSigned(this.#rule, header, body, this.#clock(), callerOf(this.#context))) return
    // Anyone can send an invalid signature, so it is counted but does not affect the health of the source.
    this.#rejected++
    throw new ServiceError('unauthenticated', 'Invalid or missing signature')
  }

  /**
   * Retains one event as the source's principal, under the same access control as any caller.
   * @param body the event as JSON, unparsed
   */
  async retain (body: Buffer): Promise<RetainAnswer> {
    this.#lastEventAt = this.#clock()
    try {
      const event = await readJson(body, this.#bounds, callerOf(this.#context))
      const answer = await this.#memory.retain({ bank_id: this.#config.target_bank, content: this.#content(event), ...readExtras(event) }, this.#context)
      this.#accepted++
      this.#lastRefusal = undefined
      return answer
    } catch (error) {
      this.#rejected++
      this.#lastRefusal = error instanceof ServiceError ? error.code : 'internal_error'
      throw error
    }
  }

  report (): SourceReport {
    return {
      id: this.id,
      type: this.#config.type,
      target_bank: this.#config.target_bank,
      healthy: this.#lastRefusal === undefined,
      message: this.#lastRefusal !== undefined ? `last event refused: ${this.#lastRefusal}` : this.#lastEventAt === null ? 'no event yet' : 'ok',
      last_event_at: this.#lastEventAt === null ? null : formatInstant(this.#lastEventAt),
      accepted: this.#accepted,
      rejected: this.#rejected,
    }
  }

  #content (event: unknown): string {
    const paths = this.#config.content_path === undefined ? DEFAULT_CONTENT_PATHS : [this.#config.content_path]
    const path = paths.find((candidate) => resolvePointer(event, candidate) !== undefined) ?? paths[0]!
    const content = resolvePointer(event, path)
    if (typeof content !== 'string') throw invalidField(path, content === undefined ? 'is required' : 'must be string')
    return content
  }
}

export class WebhookSources {
  readonly #sources: ReadonlyMap<string, WebhookSource>

  constructor (configs: Readonly<Record<string, SourceConfig>>, memory: MemoryService, clock: Clock, bounds: JsonBounds) {
    this.#sources = new Map(Object.entries(configs).map(([id, config]) => [id, new WebhookSource(id, config, memory, clock, bounds)]))
  }

  /** @throws ServiceError not_found */
  get (id: string): WebhookSource {
    const source = this.#sources.get(id)
    if (source === undefined) throw new ServiceError('not_found', 'No such source')
    return source
  }

  report (): SourceReport[] {
    return [...this.#sources.values()].map((source) => source.report())
  }
}

function signatureRule ({ auth }: SourceConfig): SignatureRule | undefined {
  if (auth.type === 'none') return undefined
  return {
    secret: auth.secret,
    header: (auth.header ?? DEFAULT_HEADER).toLowerCase(),
    ...(auth.timestamp_header !== undefined && { timestampHeader: auth.timestamp_header.toLowerCase() }),
  }
}

/** Other fields of the event are ignored; the fields that are read must be valid. */
function readExtras (event: unknown): Extras {
  const given = typeof event === 'object' && event !== null ? event as Record<string, unknown> : {}
  const extras: unknown = Object.fromEntries(EXTRA_NAMES.flatMap((name) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    return value === undefined || value === null ? [] : [[name, value]]
  }))
  return checkExtras(extras)
}
