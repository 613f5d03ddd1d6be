import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { runs, SEED } from '../helpers/fast-check.js'
import { startServer } from '../helpers/server.js'
import { DATABASE_URL, freshSchema } from '../helpers/sql-stores.js'
import { BANKS, FILES, PRINCIPALS, ROOT, rounds, tooLoose, type Change, type Round } from './changes.js'
import {
  faultsOf, flatten, grantsOn, longestContent, merged, permissionsOf, valuesInForce, type BankFile,
  type Document, type Permission, type Sections,
} from './oracle.js'

/** What the contract gives a change to be in force everywhere. */
const IN_FORCE_MS = 2000
const PAUSE_MS = 40
const KEY = 'of-the-test'
const UNSET = '"r0"'

interface Answer {
  status: number
  body: Record<string, unknown>
}

interface ConfigBody {
  config: Document
  effective: Document
  origin: Record<string, string>
  etag: string
  updated_by: string | null
}

/** One of the processes, as a client sees it. */
class Replica {
  readonly name: string
  readonly #url: string
  readonly #path: string
  /** The file that is in force there. */
  file: BankFile

  constructor (name: string, url: string, path: string, file: BankFile) {
    this.name = name
    this.#url = url
    this.#path = path
    this.file = file
  }

  static write (path: string, { global, ...file }: BankFile, schema: string): void {
    writeFileSync(path, JSON.stringify({ vector_store: 'postgres', vector_store_config: { schema, pool_size: 4 }, ...file, ...global }))
  }

  async call (
    method: string, path: string, principal: string, body?: Sections, headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { 'x-api-key': KEY, 'x-admin-token': KEY, 'x-service-principal': principal, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() as Record<string, unknown> }
  }

  async config (bank: string): Promise<ConfigBody> {
    return (await this.call('GET', `/v1/banks/${bank}/config`, ROOT)).body as unknown as ConfigBody
  }

  async permissions (bank: string, principal: string): Promise<Permission[]> {
    const { body } = await this.call('GET', `/v1/whoami?bank_id=${bank}`, principal)
    return (body['permissions'] as Array<{ permission: Permission }>).map(({ permission }) => permission)
  }

  async reload (file: BankFile, schema: string): Promise<Answer> {
    Replica.write(this.#path, file, schema)
    this.file = file
    return await this.call('POST', '/v1/admin/reload', ROOT)
  }
}

/** What the model knows of a bank. */
interface Bank {
  own: Document | undefined
  etag: string
  updatedBy: string | null
  /** Oldest first; null where a configuration was taken back. */
  history: Array<Document | null>
  /** What was in force at some moment since both processes were last seen to agree, the newest last. */
  recent: Array<Document>
  changedAt: number
}

/** The two processes and what they should be saying. */
class Model {
  readonly #t: Test
  readonly #replicas: readonly Replica[]
  readonly #banks = new Map(BANKS.map((bank): [string, Bank] =>
    [bank, { own: undefined, etag: UNSET, updatedBy: null, history: [], recent: [{}], changedAt: 0 }]))

  readonly #etags = new Set<string>()
  /** How many answers of a kind there were: a run in which hardly anything was allowed would show little. */
  readonly seen = new Map<string, number>()
  slowest = 0

  constructor (t: Test, replicas: readonly Replica[]) {
    this.#t = t
    this.#replicas = replicas
  }

  bank (id: string): Bank {
    return this.#banks.get(id)!
  }

  /** Makes a change on a process, and holds its answer against what the rules say. */
  async apply (home: Replica, change: Change): Promise<void> {
    const { bank: id, action, principal } = change
    if (action === 'race' || action === 'merge') await this.#both(change)
    else if (action === 'remove') await this.#remove(home, id, principal)
    else await this.#set(home, change)
    await this.atOnce(home, id)
  }

  /** What is in force on the process that took the change. */
  async atOnce (home: Replica, id: string): Promise<void> {
    const bank = this.bank(id)
    this.#same(await this.#wrong(home, id), [], `${home.name} at once, ${id}`)
    const other = this.#replicas.find((replica) => replica !== home)!
    for (const principal of PRINCIPALS) {
      const told = await other.permissions(id, principal)
      const possible = bank.recent.map((own) => permissionsOf(other.file, id, own, principal))
      if (!possible.some((permissions) => isDeepStrictEqual(permissions, told))) this.#same(told, possible.at(-1), `${principal} on ${id} has on ${other.name} what no configuration gave`)
    }
  }

  /**
   * Waits until every process says what the model does, which may take two seconds from the last change of each bank.
   */
  async settle (quiet: boolean): Promise<void> {
    if (quiet) await this.lapse()
    for (const replica of this.#replicas) {
      for (const id of BANKS) await this.#converge(replica, id)
    }
    for (const id of BANKS) {
      const bank = this.bank(id)
      bank.recent = [bank.own ?? {}]
    }
  }

  /** Waits until two seconds have passed since the last change. */
  async lapse (): Promise<void> {
    await until(Math.max(...BANKS.map((id) => this.bank(id).changedAt)) + IN_FORCE_MS)
  }

  async history (id: string): Promise<void> {
    for (const replica of this.#replicas) {
      const { body } = await replica.call('GET', `/v1/banks/${id}/config/history`, ROOT)
      const configs = (body['history'] as Array<{ config: Document | null }>).map(({ config }) => config)
      this.#same(configs, this.bank(id).history.slice(-100).reverse(), `${replica.name}, history of ${id}`)
    }
  }

  async #converge (replica: Replica, id: string): Promise<void> {
    for (;;) {
      const asked = performance.now()
      const wrong = [...await this.#wrong(replica, id), ...await this.#wrongLimits(replica, id)]
      const age = asked - this.bank(id).changedAt
      if (wrong.length === 0) return
      // What was asked earlier than that may still be answered with what was in force before.
      if (age >= IN_FORCE_MS) this.#same(wrong, [], `${replica.name} on ${id}, asked ${Math.round(age)} ms after the change`)
      this.slowest = Math.max(this.slowest, age)
      await until(performance.now() + PAUSE_MS)
    }
  }

  /** What a process says of a bank that is not so. */
  async #wrong (replica: Replica, id: string): Promise<unknown[]> {
    const { own = {}, etag, updatedBy } = this.bank(id)
    const values = valuesInForce(replica.file, id, own)
    const granted = grantsOn(replica.file, id, own)
    const answer = await replica.config(id)
    const { access, profile, ...effective } = answer.effective
    const wrong = (what: string, found: unknown, wanted: unknown) =>
      isDeepStrictEqual(found, wanted) ? [] : [{ what, found, wanted }]
    const chosen = own.profile ?? entryProfile(replica.file, id)
    const grantOrigin = replica.file.access_control.bank_grants && (own.access ?? []).length > 0 ? 'bank' : granted.length > 0 ? 'file' : 'default'
    const told = await Promise.all(
      PRINCIPALS.map(async (principal) => ({ principal, found: await replica.permissions(id, principal) })),
    )
    return [
      ...wrong('config', answer.config, own),
      ...wrong('etag', answer.etag, etag),
      ...wrong('updated_by', answer.updated_by, updatedBy),
      ...wrong('effective', sorted(flatten(effective)), sorted([...values].map(([path, { value }]) => [path, value]))),
      ...wrong('access', access, granted),
      ...wrong('profile', profile, chosen),
      ...wrong('origin', sorted(Object.entries(answer.origin)), sorted([
        ...[...values].map(([path, { origin }]): [string, unknown] => [path, origin]),
        ['access', grantOrigin],
        ...chosen === undefined ? [] : [['profile', own.profile === undefined ? 'file' : 'bank'] as [string, unknown]],
      ])),
      ...told.flatMap(({ principal, found }) => wrong(`permissions of ${principal}`, found, permissionsOf(replica.file, id, own, principal))),
    ]
  }

  /** Whether a process takes the longest content and refuses a longer one: the limit that it shows is in force. */
  async #wrongLimits (replica: Replica, id: string): Promise<unknown[]> {
    const longest = longestContent(valuesInForce(replica.file, id, this.bank(id).own ?? {}))
    const retain = async (length: number) => (await replica.call('POST', '/v1/retain', ROOT, { bank_id: id, content: 'x'.repeat(length) })).status
    const found = [await retain(longest + 1), await retain(longest)]
    return isDeepStrictEqual(found, [400, 200]) ? [] : [{ what: `contents of ${longest + 1} and ${longest} characters`, found }]
  }

  async #remove (home: Replica, id: string, principal: string): Promise<void> {
    const bank = this.bank(id)
    const allowed = permissionsOf(home.file, id, bank.own ?? {}, principal).includes('admin')
    const { status, body } = await home.call('DELETE', `/v1/banks/${id}`, principal)
    this.#count(`remove ${status}`)
    this.#same(status, allowed ? 200 : 403, `${principal} removes ${id} on ${home.name}`)
    if (!allowed) return
    this.#same(body['config_deleted'], bank.own !== undefined, `whether ${id} had a configuration`)
    this.#put(id, undefined, UNSET, null)
    bank.history = []
  }

  async #set (home: Replica, change: Change): Promise<void> {
    const { bank: id, principal, action, removed } = change
    const bank = this.bank(id)
    const sent: Sections = { ...change.document, ...action !== 'reset' && change.malformed?.[0] }
    if (action === 'patch') for (const name of removed) sent[name] = null
    const next = (action === 'patch' ? merged(bank.own ?? {}, sent) : sent) as Document
    const { status, field } = this.#verdict(home, change, next)
    const answer = await home.call({ put: 'PUT', patch: 'PATCH', reset: 'DELETE' }[action as 'put' | 'patch' | 'reset'], `/v1/banks/${id}/config`, principal, action === 'reset' ? undefined : sent, ifMatchOf(change, bank.etag))
    this.#count(`${action} ${answer.status}`)
    this.#same(answer.status, status, `${principal} does ${action} on ${id} of ${home.name} with ${JSON.stringify(sent)}, If-Match ${change.ifMatch}: ${JSON.stringify(answer.body)}`)
    if (field !== undefined) {
      const fields = (answer.body['errors'] as Array<{ field: string }>).map((error) => error.field)
      this.#same([...new Set(fields)].sort(), field, 'the fields that are wrong are named')
    }
    if (status !== 200) return
    if (action === 'reset' && bank.own === undefined) return
    this.#put(id, action === 'reset' ? undefined : next, String(answer.body['etag']), action === 'reset' ? null : principal)
    bank.history.push(action === 'reset' ? null : next)
  }

  /** What the answer to a change must be, and which fields it names. */
  #verdict (
    home: Replica, { bank: id, principal, action, ifMatch, malformed }: Change, next: Document,
  ): { status: number, field?: string[] } {
    const { own } = this.bank(id)
    const isMalformed = action !== 'reset' && malformed !== undefined
    if (!permissionsOf(home.file, id, own ?? {}, principal).includes('admin')) return { status: 403 }
    // The form of a whole configuration is checked with the request, that of a merged one when it is known.
    if (action === 'put' && isMalformed) return { status: 400, field: [malformed[1]] }
    if (ifMatch === 'wrong' || (ifMatch === 'any' && own === undefined)) return { status: 412 }
    if (action === 'reset') return { status: 200 }
    if (isMalformed && stillMalformed(next, malformed[0])) return { status: 400, field: [malformed[1]] }
    const faults = faultsOf(home.file, id, next, action === 'patch' ? own : undefined)
    return faults.length > 0 ? { status: 400, field: faults } : { status: 200 }
  }

  /** Both processes are asked at the same moment. */
  async #both ({ bank: id, action }: Change): Promise<void> {
    const bank = this.bank(id)
    const patches: Document[] = action === 'race' ? [{ description: 'Left' }, { description: 'Right' }] : [{ description: 'Both' }, { mission: 'Both.' }]
    // What one of them may not set, under the file that it has, is the matter of the other changes.
    if (this.#replicas.some(({ file }) => faultsOf(file, id, merged(bank.own ?? {}, { description: 'x', mission: 'x' })).length > 0)) return
    const headers = action === 'race' ? { 'if-match': bank.etag } : undefined
    const answers = await Promise.all(this.#replicas.map(async (replica, index) => await replica.call('PATCH', `/v1/banks/${id}/config`, ROOT, patches[index], headers)))
    this.#count(`${action} ${answers.map(({ status }) => status).sort().join(' ')}`)
    this.#same(answers.map(({ status }) => status).sort(), action === 'race' ? [200, 412] : [200, 200], `${action} on ${id}`)
    const byAge =
      answers.filter(({ status }) => status === 200).sort((one, other) => revisionOf(one) - revisionOf(other))
    for (const answer of byAge) {
      const next = merged(this.bank(id).own ?? {}, patches[answers.indexOf(answer)]!)
      this.#put(id, next, String(answer.body['etag']), ROOT)
      bank.history.push(next)
    }
  }

  #put (id: string, own: Document | undefined, etag: string, updatedBy: string | null): void {
    const bank = this.bank(id)
    if (etag !== UNSET) this.#same(this.#etags.has(etag), false, `${etag} names two states`)
    this.#etags.add(etag)
    bank.recent.push(own ?? {})
    Object.assign(bank, { own, etag, updatedBy, changedAt: performance.now() })
  }

  #count (kind: string): void {
    this.seen.set(kind, (this.seen.get(kind) ?? 0) + 1)
  }

  /** Ends the run at the first thing that is wrong: what comes after would be wrong because of it. */
  #same (found: unknown, wanted: unknown, what: string): void {
    if (isDeepStrictEqual(found, wanted)) return
    this.#t.strictSame(found, wanted, `${what} (seed ${SEED})`)
    throw new Error(`${what}: found ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`)
  }
}

/** A patch may take away the very member that is malformed, which is then never looked at. */
function stillMalformed (next: Document, wrong: Sections): boolean {
  return Object.keys(wrong).every((name) => next[name] !== undefined)
}

function ifMatchOf ({ ifMatch }: Change, etag: string): Record<string, string> {
  switch (ifMatch) {
    case 'absent': return {}
    case 'right': return { 'if-match': `"elsewhere", ${etag}` }
    case 'wrong': return { 'if-match': '"r999999", "elsewhere"' }
    case 'any': return { 'if-match': '*' }
  }
}

function entryProfile (file: BankFile, id: string): string | undefined {
  return id === 'team-red' ? file.banks['team-*']?.profile : undefined
}

function revisionOf ({ body }: Answer): number {
  return Number(String(body['etag']).slice(2, -1))
}

/** By path; the one list among the values, of blocked keys, means the same in any order. */
function sorted (pairs: Array<[string, unknown]>): Array<[string, unknown]> {
  return pairs
    .map(([path, value]): [string, unknown] => [path, Array.isArray(value) ? [...value as string[]].sort() : value])
    .sort(([one], [other]) => one < other ? -1 : 1)
}

async function until (instant: number): Promise<void> {
  await new Promise((resolve) => { setTimeout(resolve, Math.max(0, Math.ceil(instant - performance.now()))) })
}

async function startReplicas (t: Test, schema: string): Promise<Replica[]> {
  const folder = t.testdir({})
  const start = async (name: string) => {
    const path = join(folder, `${name}.yaml`)
    Replica.write(path, FILES[0]!, schema)
    const { url } = await startServer(t, { DATABASE_URL: DATABASE_URL ?? '', SERVICES_CONFIG_PATH: path, SERVICE_AUTH_MODE: 'api_key', SERVICE_API_KEY: KEY, SERVICE_ADMIN_TOKEN: KEY, SERVICES_LOG_LEVEL: 'info' })
    return new Replica(name, url, path, FILES[0]!)
  }
  // One after the other: the first one makes the tables.
  return [await start('one'), await start('two')]
}

async function play (
  model: Model, replicas: readonly Replica[], { reloads, homes, quiet, changes }: Round, schema: string,
): Promise<void> {
  // Two configurations that say the same under one file may differ under another: the older one must be out of force.
  if (reloads.some((file) => file !== undefined)) await model.lapse()
  for (const [index, file] of reloads.entries()) {
    if (file !== undefined) await replicas[index]!.reload(FILES[file]!, schema)
  }
  // A file that was read again holds at once.
  for (const id of BANKS) await model.atOnce(replicas[0]!, id)
  for (const id of BANKS) await model.atOnce(replicas[1]!, id)
  for (const change of changes) await model.apply(replicas[homes[BANKS.indexOf(change.bank)]!]!, change)
  await model.settle(quiet)
}

/** Tries to loosen each limit. @returns how many changes were refused */
async function refusals (model: Model, replicas: readonly Replica[], schema: string): Promise<number> {
  const id = 'team-red'
  await model.lapse()
  for (const replica of replicas) await replica.reload(FILES[0]!, schema)
  await model.apply(replicas[0]!, { bank: id, principal: ROOT, ifMatch: 'absent', action: 'reset', document: {}, removed: [], malformed: undefined })
  const before = model.seen.get('patch 400') ?? 0
  for (const change of tooLoose(id)) await model.apply(replicas[0]!, change)
  return (model.seen.get('patch 400') ?? 0) - before
}

t.test('random changes of banks, on two processes over one database, do what the rules say, at once here and within two seconds there', {
  skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false,
  timeout: 840_000,
}, async (t) => {
  t.comment(`seed ${SEED}`)
  const schema = freshSchema(t)
  const replicas = await startReplicas(t, schema)
  const model = new Model(t, replicas)
  for (const round of rounds(runs(10, 100), 10, SEED)) await play(model, replicas, round, schema)
  for (const id of BANKS) await model.history(id)
  const refused = await refusals(model, replicas, schema)
  t.comment([...model.seen].map(([kind, count]) => `${kind}: ${count}`).sort().join(', '))
  t.comment(`the last answer that told of what was in force before came ${Math.round(model.slowest)} ms after a change`)
  for (const status of [200, 400, 403, 412]) t.ok([...model.seen.keys()].some((kind) => kind.endsWith(` ${status}`)), `there were changes that were answered ${status}`)
  t.ok(model.seen.has('race 200 412') && model.seen.has('merge 200 200'), 'there were changes at the same moment')
  t.equal(refused, tooLoose('team-red').length, 'no limit can be loosened')
})
