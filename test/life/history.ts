import type { Test } from 'tap'
import fc from '../helpers/fast-check.js'
import type { TestApp } from '../helpers/app.js'
import { BankModel, type Fields, type Read, type Seen } from './model.js'

const START = Date.parse('2026-01-15T10:00:00.000Z')
const DAY = 86_400_000
const TEXTS = ['The otter eats fish.', 'The otter eats crabs.', 'The otter sleeps.', 'The otter swims.']
const KEYS = ['otter/food', 'otter/place', 'otter/name']
const TAGS = ['red', 'green', 'blue']
const BANK = 'life'

const maybe = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: null, freq: 2 })
/** Days from the start, before and after it. */
const day = fc.integer({ min: -3, max: 6 })
/** Picks one of the memories that there are. */
const pick = fc.nat(1000)

const fact = fc.record({
  text: fc.constantFrom(...TEXTS),
  tags: fc.uniqueArray(fc.constantFrom(...TAGS), { maxLength: 2 }),
  key: maybe(KEYS),
  validFrom: fc.option(day, { nil: null, freq: 3 }),
  /** After validFrom. */
  validDays: fc.option(fc.integer({ min: 1, max: 4 }), { nil: null, freq: 3 }),
  expiresInDays: fc.option(fc.integer({ min: 1, max: 3 }), { nil: null, freq: 6 }),
})

const kind = <K extends string>(name: K) => fc.constant(name)
const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })
const changed = fc.subarray(['text', 'tags', 'key', 'valid', 'expires'] as const)
const reason = fc.constantFrom('superseded' as const, 'invalidated' as const)
const step = fc.oneof(
  weighted(6, fc.record({ kind: kind('retain'), fact, supersedes: fc.array(pick, { maxLength: 2 }) })),
  weighted(3, fc.record({ kind: kind('patch'), pick, fact, changed })),
  weighted(2, fc.record({ kind: kind('retire'), pick, reason })),
  weighted(2, fc.record({ kind: kind('restore'), pick })),
  weighted(1, fc.record({ kind: kind('redact'), pick, version: fc.integer({ min: 1, max: 4 }) })),
  weighted(1, fc.record({ kind: kind('forget'), pick: fc.option(pick), tag: fc.constantFrom(...TAGS) })),
  weighted(1, fc.record({ kind: kind('rollback'), back: fc.integer({ min: 0, max: 12 }), dryRun: fc.boolean() })),
  weighted(1, fc.record({ kind: kind('wait'), days: fc.integer({ min: 1, max: 2 }) })),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

type Fact = typeof fact extends fc.Arbitrary<infer T> ? T : never

export const histories = fc.array(step, { minLength: 5, maxLength: 25 })

interface WireMemory {
  memory_id: string
  version: number
  state: Seen['state']
  text: string
  tags: string[]
  key?: string
  valid_from?: string
  valid_until?: string
  superseded_by?: string
}

const instant = (text: string | undefined) => text === undefined ? null : Date.parse(text)
const wire = (time: number | null) => time === null ? null : new Date(time).toISOString()

function toSeen (memory: WireMemory): Seen {
  return {
    id: memory.memory_id,
    version: memory.version,
    state: memory.state,
    text: memory.text,
    tags: memory.tags,
    key: memory.key ?? null,
    valid_from: instant(memory.valid_from),
    valid_until: instant(memory.valid_until),
    superseded_by: memory.superseded_by ?? null,
  }
}

const byId = (a: Seen, b: Seen) => a.id < b.id ? -1 : 1

interface Clock {
  (): number
  advance (milliseconds: number): void
}

type Gateway = Pick<TestApp, 'post' | 'get' | 'inject'>

/** Runs a history on gateways in turn, and compares what they answer with the model after each step. */
export class History {
  readonly #gateways: readonly Gateway[]
  readonly #model = new BankModel()
  readonly #clock: Clock
  readonly #t: Test
  readonly #bank: string
  /** Instants of storing. */
  readonly #instants: number[] = []
  #steps = 0

  constructor (t: Test, gateways: readonly Gateway[], clock: Clock, bank = BANK) {
    this.#t = t
    this.#gateways = gateways
    this.#clock = clock
    this.#bank = bank
  }

  async run (history: readonly Step[]): Promise<void> {
    for (const step of history) {
      this.#clock.advance(60_000)
      this.#steps++
      await this.#take(step)
      this.#instants.push(this.#clock())
      await this.#compare()
    }
  }

  get #gateway (): Gateway {
    return this.#gateways[this.#steps % this.#gateways.length]!
  }

  #url (path = ''): string {
    return `/v1/banks/${this.#bank}${path}`
  }

  #pick (number: number): string {
    const ids = this.#model.ids(this.#clock())
    return ids.length === 0 ? '01936f0e-7b3c-7a10-8d2f-ffffffffffff' : ids[number % ids.length]!
  }

  #fields ({ text, tags, key, validFrom, validDays, expiresInDays }: Fact): Fields {
    const from = validFrom === null ? null : START + validFrom * DAY
    return {
      text,
      tags,
      key,
      validFrom: from,
      validUntil: validDays === null ? null : (from ?? START) + validDays * DAY,
      expiresAt: expiresInDays === null ? null : this.#clock() + expiresInDays * DAY,
    }
  }

  async #take (step: Step): Promise<void> {
    const [t, model, now] = [this.#t, this.#model, this.#clock()]
    const about = `step ${this.#steps}: ${step.kind}`
    switch (step.kind) {
      case 'wait':
        this.#clock.advance(step.days * DAY)
        return
      case 'retain': {
        const fields = this.#fields(step.fact)
        const supersedes = [...new Set(step.supersedes.map((number) => this.#pick(number)))]
        const response = await this.#gateway.post('/v1/retain', {
          bank_id: this.#bank,
          ...body(fields),
          ...supersedes.length > 0 && { supersedes },
        })
        const answer = response.json<{ memory_id: string, stored: boolean, superseded?: string[] }>()
        const outcome = model.retain(answer.memory_id, { ...fields, supersedes }, now)
        if (outcome.kind === 'unknown') t.equal(response.statusCode, 400, about)
        else if (outcome.kind === 'repeated') t.match(answer, { stored: false, memory_id: outcome.id }, about)
        else {
          t.equal(answer.stored, true, about)
          t.strictSame(answer.superseded?.toSorted() ?? [], outcome.superseded, about)
        }
        return
      }
      case 'patch': {
        const id = this.#pick(step.pick)
        const given = this.#fields(step.fact)
        const [before] = model.versions(id, now)
        const changes: Partial<Fields> = {
          ...step.changed.includes('text') && { text: given.text },
          ...step.changed.includes('tags') && { tags: given.tags },
          ...step.changed.includes('key') && { key: given.key },
          ...step.changed.includes('valid') && { validFrom: given.validFrom, validUntil: given.validUntil },
          ...step.changed.includes('expires') && { expiresAt: given.expiresAt },
        }
        const response = await this.#gateway.inject({
          method: 'PATCH',
          url: this.#url(`/memories/${id}`),
          payload: patchBody(changes),
          ...before !== undefined && { headers: { 'if-match': `"${before.version}"` } },
        })
        t.equal(response.statusCode, STATUS[model.patch(id, changes, now)], `${about} ${response.body}`)
        return
      }
      case 'retire': {
        const id = this.#pick(step.pick)
        const response = await this.#gateway.post(this.#url(`/memories/${id}/retire`), { reason: step.reason })
        t.equal(response.statusCode, STATUS[model.retire(id, step.reason, now)], `${about} ${response.body}`)
        return
      }
      case 'restore': {
        const id = this.#pick(step.pick)
        const response = await this.#gateway.post(this.#url(`/memories/${id}/restore`), {})
        t.equal(response.statusCode, STATUS[model.restore(id, now)], `${about} ${response.body}`)
        return
      }
      case 'redact': {
        const id = this.#pick(step.pick)
        const response = await this.#gateway.post(this.#url(`/memories/${id}/versions/${step.version}/redact`), {})
        const expected = { redacted: 200, absent: 404, last: 400 }[model.redact(id, step.version, now)]
        t.equal(response.statusCode, expected, `${about} ${response.body}`)
        return
      }
      case 'forget': {
        const id = step.pick === null ? undefined : this.#pick(step.pick)
        const response = await this.#gateway.post('/v1/forget', {
          bank_id: this.#bank, ...id === undefined ? { tags: [step.tag] } : { memory_ids: [id] },
        })
        const gone = model.forget((each, { tags }) => (
          id === undefined ? tags.includes(step.tag) : each === id
        ), now)
        t.strictSame(response.json(), { deleted_count: gone.length, memory_ids: gone }, about)
        return
      }
      case 'rollback': {
        const to = this.#instants.at(-1 - step.back) ?? START
        const response = await this.#gateway.post(this.#url('/rollback'), { to: wire(to), dry_run: step.dryRun })
        t.strictSame(response.json(), model.rollback(to, now, { dryRun: step.dryRun }), about)
      }
    }
  }

  /** Compares every state, now and at instants of storing, with and without a time of the world. */
  async #compare (): Promise<void> {
    const now = this.#clock()
    const instants = [undefined, this.#instants.at(-1), this.#instants.at(-3), this.#instants[0]]
    for (const state of ['current', 'history', 'all'] as const) {
      for (const asOf of new Set(instants)) {
        for (const validAt of asOf === undefined ? [undefined, now, START + DAY] : [undefined]) {
          await this.#compareRead({ state, asOf, validAt })
        }
      }
    }
    for (const id of this.#model.ids(now).slice(-2)) await this.#compareVersions(id)
  }

  async #compareRead (read: Read): Promise<void> {
    const expected = this.#model.read(read, this.#clock())
    const filters = {
      state: read.state,
      ...read.asOf !== undefined && { as_of: wire(read.asOf)! },
      ...read.validAt !== undefined && { valid_at: wire(read.validAt)! },
    }
    const about = `step ${this.#steps}: ${JSON.stringify(filters)}`
    const query = new URLSearchParams({ ...filters, limit: '200' })
    const listed = await this.#gateway.get(`${this.#url('/memories')}?${query.toString()}`)
    const { memories } = listed.json<{ memories: WireMemory[] }>()
    this.#t.strictSame(memories.map(toSeen).sort(byId), expected, `list ${about}`)
    const recalled = await this.#gateway.post('/v1/recall', {
      bank_id: this.#bank, query: 'otter', max_results: 1000, ...filters,
    })
    const { hits, total_available: total } = recalled.json<{ hits: WireMemory[], total_available: number }>()
    this.#t.strictSame(hits.map(toSeen).sort(byId), expected, `recall ${about}`)
    this.#t.equal(total, expected.length, `total of recall ${about}`)
  }

  async #compareVersions (id: string): Promise<void> {
    const response = await this.#gateway.get(this.#url(`/memories/${id}/versions`))
    const { versions } = response.json<{
      versions: Array<{ version: number, content: string, state: string, redacted: boolean, changed_at: string }>
    }>()
    this.#t.strictSame(
      versions.map(({ version, content, state, redacted, changed_at: at }) => (
        { version, content, state, redacted, from: Date.parse(at) }
      )),
      this.#model.versions(id, this.#clock()).map(({ version, text, state, redacted, from }) => (
        { version, content: redacted ? '' : text, state, redacted, from }
      )),
      `step ${this.#steps}: versions`,
    )
  }
}

const STATUS = { changed: 200, unchanged: 200, absent: 404, not_current: 409, place_taken: 409 } as const

function body ({ text, tags, key, validFrom, validUntil, expiresAt }: Fields): Record<string, unknown> {
  return {
    content: text,
    ...tags.length > 0 && { tags },
    key,
    valid_from: wire(validFrom),
    valid_until: wire(validUntil),
    expires_at: wire(expiresAt),
  }
}

function patchBody (changes: Partial<Fields>): Record<string, unknown> {
  const { text, tags, key, validFrom, validUntil, expiresAt } = changes
  return {
    ...text !== undefined && { content: text },
    ...tags !== undefined && { tags: tags.length === 0 ? null : tags },
    ...key !== undefined && { key },
    ...validFrom !== undefined && { valid_from: wire(validFrom) },
    ...validUntil !== undefined && { valid_until: wire(validUntil) },
    ...expiresAt !== undefined && { expires_at: wire(expiresAt) },
  }
}
