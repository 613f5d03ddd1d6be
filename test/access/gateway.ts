import type { Test } from 'tap'
import type { FileConfig } from '../../lib/config/schema.js'
import type { MemoryOverrides } from '../../lib/operations/memory-service.js'
import type { TestConfig } from '../helpers/config.js'
import { testApp, type TestApp } from '../helpers/app.js'
import type { Rights } from './matrix.js'
import {
  missingPermission, PERMISSION, routeOutcome, SEED_CONFIG, SEED_TEXT, type Letter, type Operation, type Seed,
} from './operation.js'
import { exportOf } from './operations.js'

/** A context with all rights, with which the tests examine the state. */
const NOBODY = { tenantId: null }

export interface Ask {
  headers: Record<string, string>
  /** The caller as an error names it, on-behalf-of included. */
  named: string
}

/**
 * An app under one access configuration, with two known memories and a configuration in each bank that is asked for.
 */
export class Gateway {
  readonly #app: TestApp
  readonly #seeds = new Map<string, Seed>()

  constructor (app: TestApp) {
    this.#app = app
  }

  static async start (
    t: Test, file: FileConfig, config: TestConfig, overrides: MemoryOverrides = {},
  ): Promise<Gateway> {
    return new Gateway(
      await testApp(t, { ...config, logLevel: 'silent', file }, overrides),
    )
  }

  /** Tries one operation as a caller with `rights` on the bank. @returns the faults; empty when there are none */
  async check (operation: Operation, bank: string, ask: Ask, rights: Rights): Promise<string[]> {
    const seed = await this.#seed(bank)
    const before = await this.#state(bank)
    const response = await this.#app.inject(withHeaders(operation.request(bank, seed), ask.headers))
    const lacks = missingPermission(operation, rights)
    const { status, code, detail, requestId } = (operation.outcome ?? routeOutcome)(response)
    const changed = await this.#state(bank) !== before
    if (changed) await this.#reset(bank)
    const wrong: string[] = []
    const say = (what: string) => wrong.push(`${ask.named}: ${operation.name} on ${bank}: ${what}`)
    if (lacks === undefined) {
      if (status !== 200) say(`expected 200, got ${status} ${response.body}`)
      if (changed !== operation.writes) say(changed ? 'changed the bank' : 'changed nothing')
      // Every answer to a reader contains something of the stored memories.
      const something = new RegExp(`otter|"memory_count":2|"message_count":1|${seed.kept}`)
      if (!operation.writes && operation.isSilent !== true && !something.test(response.body)) {
        say(`says nothing: ${response.body}`)
      }
      return wrong
    }
    const expected = `${ask.named} is denied '${PERMISSION[lacks]}' on bank '${bank}'`
    if (status !== 403 || code !== 'access_denied') {
      say(`expected 403 access_denied, got ${status} ${code} ${response.body}`)
    }
    if (detail !== expected) say(`expected ${expected}, got ${detail}`)
    if (requestId === undefined || requestId !== response.headers['x-request-id']) say('has no request id')
    if (/otter/.test(response.body)) say('tells of the memories')
    if (changed) say('was denied and changed the bank')
    return wrong
  }

  /** Whether whoami reports the same rights. */
  async checkWhoami (bank: string, ask: Ask, rights: Rights): Promise<string[]> {
    const { body: { permissions: told } } = await this.ask('GET', `/v1/whoami?bank_id=${encodeURIComponent(bank)}`, ask)
    const expected = (Object.keys(PERMISSION) as Letter[]).filter((letter) => rights.includes(letter))
      .map((letter) => PERMISSION[letter])
    const permissions = told as Array<{ permission: string, granted_by: string }>
    if (permissions.map(({ permission }) => permission).join() === expected.join() &&
      permissions.every(({ granted_by: by }) => by !== '')) return []
    return [`${ask.named}: whoami on ${bank}: expected ${expected.join()} with reasons, got ${JSON.stringify(told)}`]
  }

  /** Whether the list of banks shows a caller those of `banks` that it may read, and no other. */
  async checkList (banks: ReadonlyArray<readonly [bank: string, rights: Rights]>, ask: Ask): Promise<string[]> {
    for (const [bank] of banks) await this.#seed(bank)
    const { body: { banks: listed } } = await this.ask('GET', '/v1/banks?limit=200', ask)
    const names = (listed as Array<{ bank_id: string }>).map(({ bank_id: name }) => name)
    return banks.filter(([bank, rights]) => names.includes(bank) !== rights.includes('r'))
      .map(([bank]) => `${ask.named}: the list of banks ${names.includes(bank) ? 'shows' : 'hides'} ${bank}`)
  }

  async ask (method: 'GET' | 'POST', url: string, ask: Ask, payload?: Record<string, unknown>): Promise<
    { status: number, body: Record<string, unknown> }
  > {
    const response =
      await this.#app.inject({ method, url, headers: ask.headers, ...(payload !== undefined && { payload }) })
    return { status: response.statusCode, body: response.json<Record<string, unknown>>() }
  }

  async #seed (bank: string): Promise<Seed> {
    const known = this.#seeds.get(bank)
    if (known !== undefined) return known
    const id = (rest: number) => (
      `01936f0e-0000-7000-8000-${(this.#seeds.size * 2 + rest).toString(16).padStart(12, '0')}`
    )
    const seed = { kept: id(0), dropped: id(1) }
    this.#seeds.set(bank, seed)
    await this.#reset(bank)
    return seed
  }

  async #reset (bank: string): Promise<void> {
    const { bounds, memory: { forget, importBank, putBankConfig } } = this.#app.app
    const seed = this.#seeds.get(bank)!
    await forget({ bank_id: bank, scope: 'all' }, NOBODY)
    const lines = [
      {
        memory_id: seed.kept,
        text: SEED_TEXT,
        tags: ['keep'],
        document_id: 'diary',
        metadata: { place: 'river' },
        speaker: 'Ada',
        message: { role: 'user', name: 'Ada', position: 0, digest: 'd' },
      },
      { memory_id: seed.dropped, text: 'An otter eats by the river.', tags: ['drop'] },
    ]
    const bytes = Buffer.from(exportOf(lines))
    await importBank({ bank_id: bank, bytes, on_conflict: 'skip', config: 'ignore', bounds }, NOBODY)
    await putBankConfig({ bank_id: bank, config: SEED_CONFIG }, NOBODY)
  }

  /**
   * The bank's memories, its configuration and the sizes of all banks: what a call that did nothing leaves as it was.
   */
  async #state (bank: string): Promise<string> {
    const { listAllBanks, exportBank } = this.#app.app.memory
    const parts = [JSON.stringify(await listAllBanks({}))]
    for await (const line of await exportBank({ bank_id: bank }, NOBODY)) parts.push(line)
    return parts.join('\n')
  }
}

function withHeaders (
  request: ReturnType<Operation['request']>, headers: Record<string, string>,
): ReturnType<Operation['request']> {
  return { ...request, headers: { ...request.headers, ...headers } }
}
