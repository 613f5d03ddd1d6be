import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import { SEED } from '../helpers/fast-check.js'
import { BANKS, ifMatchOf, PRINCIPALS, ROOT, stillMalformed, type Change } from './changes.js'
import {
  entryProfile, faultsOf, flatten, grantsOn, longestContent, merged, permissionsOf, valuesInForce, type Document,
  type Sections,
} from './oracle.js'
import type { Replica } from './replica.js'

/** The time in which a change is in force in every process, as documented. */
const PROPAGATION_MS = 2000
const POLL_MS = 40
/** The entity tag of a bank without a configuration. */
const UNSET = '"r0"'

/** The expected state of a bank. */
interface Bank {
  own: Document | undefined
  etag: string
  updatedBy: string | null
  /** Oldest first; null for a removed configuration. */
  history: Array<Document | null>
  /** The configurations that were in force since both processes last agreed, newest last. */
  recent: Array<Document>
  changedAt: number
}

/** The expected state of the banks on two processes, which every answer is compared with. */
export class Model {
  readonly #t: Test
  readonly #replicas: readonly Replica[]
  readonly #banks = new Map(BANKS.map((bank): [string, Bank] =>
    [bank, { own: undefined, etag: UNSET, updatedBy: null, history: [], recent: [{}], changedAt: 0 }]))

  /** The state that each entity tag stands for, with its author. */
  readonly #etags = new Map<string, unknown>()
  /** Counts of the answers by kind, because a run in which nearly every change is refused would prove little. */
  readonly answerCounts = new Map<string, number>()
  /** Longest time after a change at which a process still answered with the state before it, in milliseconds. */
  slowestMs = 0

  constructor (t: Test, replicas: readonly Replica[]) {
    this.#t = t
    this.#replicas = replicas
  }

  bank (id: string): Bank {
    return this.#banks.get(id)!
  }

  /** Makes a change on a process, and compares its answer with the rules. */
  async apply (home: Replica, change: Change): Promise<void> {
    const { bank: id, action, principal } = change
    if (action === 'race' || action === 'merge') await this.#changeOnBoth(change)
    else if (action === 'remove') await this.#remove(home, id, principal)
    else await this.#set(home, change)
    await this.checkImmediately(home, id)
  }

  /** Checks that the change is in force on the process that received it, and that the other has a recent state. */
  async checkImmediately (home: Replica, id: string): Promise<void> {
    const bank = this.bank(id)
    this.#assertSame(await this.#differences(home, id), [], `${home.name} immediately after the change, ${id}`)
    const other = this.#replicas.find((replica) => replica !== home)!
    for (const principal of PRINCIPALS) {
      const found = await other.permissions(id, principal)
      const possible = bank.recent.map((own) => permissionsOf(other.file, id, own, principal))
      if (!possible.some((permissions) => isDeepStrictEqual(permissions, found))) {
        this.#assertSame(
          found, possible.at(-1),
          `${principal} has on ${id} of ${other.name} permissions that no recent configuration grants`,
        )
      }
    }
  }

  /**
   * Waits until every process agrees with the model, which may take two seconds from the last change of each bank.
   */
  async converge (isQuiet: boolean): Promise<void> {
    if (isQuiet) await this.waitForPropagation()
    for (const replica of this.#replicas) {
      for (const id of BANKS) await this.#convergeOn(replica, id)
    }
    for (const id of BANKS) {
      const bank = this.bank(id)
      bank.recent = [bank.own ?? {}]
    }
  }

  /** Waits until two seconds have passed since the last change. */
  async waitForPropagation (): Promise<void> {
    await until(Math.max(...BANKS.map((id) => this.bank(id).changedAt)) + PROPAGATION_MS)
  }

  async checkHistory (id: string): Promise<void> {
    for (const replica of this.#replicas) {
      const configs = (await replica.history(id)).map(({ config }) => config)
      this.#assertSame(configs, this.bank(id).history.slice(-100).reverse(), `${replica.name}, history of ${id}`)
    }
  }

  async #convergeOn (replica: Replica, id: string): Promise<void> {
    for (;;) {
      const askedAt = performance.now()
      const wrong = [...await this.#differences(replica, id), ...await this.#limitDifferences(replica, id)]
      const age = askedAt - this.bank(id).changedAt
      if (wrong.length === 0) return
      // A request before that time may still be answered with the previous state.
      if (age >= PROPAGATION_MS) {
        this.#assertSame(wrong, [], `${replica.name} on ${id}, asked ${Math.round(age)} ms after the change`)
      }
      this.slowestMs = Math.max(this.slowestMs, age)
      await until(performance.now() + POLL_MS)
    }
  }

  /** @returns the differences between the answers of a process about a bank and the model */
  async #differences (replica: Replica, id: string): Promise<unknown[]> {
    const { own = {}, etag, updatedBy } = this.bank(id)
    const values = valuesInForce(replica.file, id, own)
    const granted = grantsOn(replica.file, id, own)
    const answer = await replica.config(id)
    const { access, profile, ...effective } = answer.effective
    const wrong = (what: string, found: unknown, wanted: unknown) =>
      isDeepStrictEqual(found, wanted) ? [] : [{ what, found, wanted }]
    const chosen = own.profile ?? entryProfile(replica.file, id)
    const grantOrigin = replica.file.access_control.bank_grants && (own.access ?? []).length > 0
      ? 'bank'
      : granted.length > 0 ? 'file' : 'default'
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
      ...told.flatMap(({ principal, found }) => wrong(`permissions of ${principal}`, found, permissionsOf(
        replica.file, id, own, principal,
      ))),
    ]
  }

  /** Checks that a process accepts the longest allowed content and refuses a longer one. */
  async #limitDifferences (replica: Replica, id: string): Promise<unknown[]> {
    const longest = longestContent(valuesInForce(replica.file, id, this.bank(id).own ?? {}))
    const retain = async (length: number) => (
      (await replica.call('POST', '/v1/retain', ROOT, { bank_id: id, content: 'x'.repeat(length) })).status
    )
    const found = [await retain(longest + 1), await retain(longest)]
    return isDeepStrictEqual(found, [400, 200])
      ? []
      : [{ what: `contents of ${longest + 1} and ${longest} characters`, found }]
  }

  async #remove (home: Replica, id: string, principal: string): Promise<void> {
    const bank = this.bank(id)
    const allowed = permissionsOf(home.file, id, bank.own ?? {}, principal).includes('admin')
    const { status, body } = await home.call('DELETE', `/v1/banks/${id}`, principal)
    this.#count(`remove ${status}`)
    this.#assertSame(status, allowed ? 200 : 403, `${principal} removes ${id} on ${home.name}`)
    if (!allowed) return
    this.#assertSame(body['config_deleted'], bank.own !== undefined, `whether ${id} had a configuration`)
    this.#put(id, undefined, UNSET, null)
    bank.history = []
  }

  async #set (home: Replica, change: Change): Promise<void> {
    const { bank: id, principal, action, removed } = change
    const bank = this.bank(id)
    const sent: Sections = { ...change.document, ...action !== 'reset' && change.malformed?.[0] }
    if (action === 'patch') for (const name of removed) sent[name] = null
    const next = (action === 'patch' ? merged(bank.own ?? {}, sent) : sent) as Document
    const { status, field } = this.#expectedAnswer(home, change, next)
    const answer = await home.call(
      { put: 'PUT', patch: 'PATCH', reset: 'DELETE' }[action as 'put' | 'patch' | 'reset'], `/v1/banks/${id}/config`,
      principal, action === 'reset' ? undefined : sent, ifMatchOf(change, bank.etag),
    )
    this.#count(`${action} ${answer.status}`)
    this.#assertSame(
      answer.status, status,
      `${principal} does ${action} on ${id} of ${home.name} with ${JSON.stringify(sent)}, If-Match ` +
        `${change.ifMatch}: ${JSON.stringify(answer.body)}`,
    )
    if (field !== undefined) {
      const fields = (answer.body['errors'] as Array<{ field: string }>).map((error) => error.field)
      this.#assertSame([...new Set(fields)].sort(), field, 'the error names the wrong fields')
    }
    if (status !== 200) return
    if (action === 'reset' && bank.own === undefined) return
    this.#put(
      id, action === 'reset' ? undefined : next, String(answer.body['etag']), action === 'reset' ? null : principal,
    )
    bank.history.push(action === 'reset' ? null : next)
  }

  /** The expected status of a change, and the fields that the error names. */
  #expectedAnswer (
    home: Replica, { bank: id, principal, action, ifMatch, malformed }: Change, next: Document,
  ): { status: number, field?: string[] } {
    const { own } = this.bank(id)
    const isMalformed = action !== 'reset' && malformed !== undefined
    if (!permissionsOf(home.file, id, own ?? {}, principal).includes('admin')) return { status: 403 }
    // The structure of a whole configuration is checked with the request, that of a merged one after the merge.
    if (action === 'put' && isMalformed) return { status: 400, field: [malformed[1]] }
    if (ifMatch === 'wrong' || (ifMatch === 'any' && own === undefined)) return { status: 412 }
    if (action === 'reset') return { status: 200 }
    if (isMalformed && stillMalformed(next, malformed[0])) return { status: 400, field: [malformed[1]] }
    const faults = faultsOf(home.file, id, next, action === 'patch' ? own : undefined)
    return faults.length > 0 ? { status: 400, field: faults } : { status: 200 }
  }

  /** Sends a change to both processes at the same time. */
  async #changeOnBoth ({ bank: id, action }: Change): Promise<void> {
    const bank = this.bank(id)
    const patches: Document[] = action === 'race'
      ? [{ description: 'Left' }, { description: 'Right' }]
      : [{ description: 'Both' }, { mission: 'Both.' }]
    // Changes that one of the configuration files forbids are tested by the other actions.
    if (this.#replicas.some(({ file }) => (
      faultsOf(file, id, merged(bank.own ?? {}, { description: 'x', mission: 'x' })).length > 0
    ))) return
    const headers = action === 'race' ? { 'if-match': bank.etag } : undefined
    const answers = await Promise.all(this.#replicas.map(async (replica, index) => (
      await replica.call('PATCH', `/v1/banks/${id}/config`, ROOT, patches[index], headers)
    )))
    this.#count(`${action} ${answers.map(({ status }) => status).sort().join(' ')}`)
    this.#assertSame(
      answers.map(({ status }) => status).sort(), action === 'race' ? [200, 412] : [200, 200], `${action} on ${id}`,
    )
    const tags = (await this.#replicas[0]!.history(id)).map(({ etag }) => etag)
    const byAge = answers
      .filter(({ status }) => status === 200)
      .sort((one, other) => tags.indexOf(String(other.body['etag'])) - tags.indexOf(String(one.body['etag'])))
    for (const answer of byAge) {
      const next = merged(this.bank(id).own ?? {}, patches[answers.indexOf(answer)]!)
      this.#put(id, next, String(answer.body['etag']), ROOT)
      bank.history.push(next)
    }
  }

  #put (id: string, own: Document | undefined, etag: string, updatedBy: string | null): void {
    const bank = this.bank(id)
    const state = { own, updatedBy }
    if (etag !== UNSET) {
      this.#assertSame(this.#etags.get(etag) ?? state, state, `${etag} is the entity tag of two states`)
    }
    this.#etags.set(etag, state)
    bank.recent.push(own ?? {})
    Object.assign(bank, { own, etag, updatedBy, changedAt: performance.now() })
  }

  #count (kind: string): void {
    this.answerCounts.set(kind, (this.answerCounts.get(kind) ?? 0) + 1)
  }

  /** Ends the run at the first difference, because later ones would only follow from it. */
  #assertSame (found: unknown, wanted: unknown, what: string): void {
    if (isDeepStrictEqual(found, wanted)) return
    this.#t.strictSame(found, wanted, `${what} (seed ${SEED})`)
    throw new Error(`${what}: found ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`)
  }
}

/** Sorts pairs by path. The only list among the values, of blocked keys, is a set, so it is sorted too. */
function sorted (pairs: Array<[string, unknown]>): Array<[string, unknown]> {
  return pairs
    .map(([path, value]): [string, unknown] => [path, Array.isArray(value) ? [...value as string[]].sort() : value])
    .sort(([one], [other]) => one < other ? -1 : 1)
}

async function until (instant: number): Promise<void> {
  await new Promise((resolve) => { setTimeout(resolve, Math.max(0, Math.ceil(instant - performance.now()))) })
}
