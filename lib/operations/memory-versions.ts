import { Type } from 'typebox'
import { formatInstant } from '../base/clock.js'
import { isUuid } from '../base/ids.js'
import { invalidField, ServiceError } from '../base/service-error.js'
import {
  type ChangedMemory, type Memory, MemoryChangedError, memoryOf, type Revision, type Version,
} from '../stores/vector-store.js'
import type { OpenBank } from './bank-directory.js'
import type { Call, Dependencies } from './dependencies.js'
import { differs, existing, nextVersion, notSupported, OneMemory, revisionOf } from './memory-changes.js'
import { LIMIT_ERRORS, operation } from './operation.js'
import { instantField, toRecord } from './records.js'
import { refusalOf } from './refusals.js'
import type { MemoryVersion } from './schemas.js'
import {
  BankId, RedactAnswer, RollbackAnswer, RollbackRequest, strict, VersionsAnswer,
} from './schemas.js'

export const listVersions = operation({
  name: 'listVersions',
  tag: 'banks',
  permission: 'read',
  summary: 'List the versions of a memory',
  description: 'Every version with who made it, when and why, the last one first.',
  request: strict(OneMemory),
  answer: VersionsAnswer,
  errors: ['answer_too_large', 'not_found', 'not_supported'],
  tool: {
    title: 'List the versions of a memory',
    description: 'Shows what a memory said before it was changed, superseded or restored, with who changed it and why.',
  },
  run: versionsOf,
})

export const redactVersion = operation({
  name: 'redactVersion',
  tag: 'memory',
  permission: 'forget',
  summary: 'Empty an earlier version of a memory',
  description: 'Permanently removes what a version said, and the facts that were derived from the memory; that there ' +
    'was a version, and who made it when, stays. The last version is not redacted but changed, or the memory ' +
    'forgotten.',
  request: strict({ ...OneMemory, version: Type.Integer({ minimum: 1, description: 'Number of the version.' }) }),
  answer: RedactAnswer,
  errors: [...LIMIT_ERRORS, 'not_found', 'not_supported'],
  run: redact,
})

export const rollbackBank = operation({
  name: 'rollbackBank',
  tag: 'banks',
  permission: 'admin',
  summary: 'Set a bank back to an instant',
  description: 'The current memories are again those of that instant, with the contents of then; what was stored ' +
    'later is retired. Nothing is deleted, so that a rollback can itself be rolled back. What was forgotten stays ' +
    'forgotten.',
  request: strict({ bank_id: BankId, ...RollbackRequest.properties }, {
    examples: [{ to: '2026-01-05T09:30:00.000Z', dry_run: true }],
  }),
  answer: RollbackAnswer,
  errors: [...LIMIT_ERRORS, 'conflict', 'not_supported', 'model_output_invalid'],
  run: rollback,
})

/** Changed memories that one rollback can set back, all of which are in memory. */
const MAX_ROLLED_BACK = 10_000
const MAX_ATTEMPTS = 3

type OneMemoryRequest = Readonly<{ bank_id: string, memory_id: string }>

async function versionsOf (
  deps: Dependencies, { bank_id: bankId, memory_id: id }: OneMemoryRequest, { context }: Call,
): Promise<VersionsAnswer> {
  const { clock, directory, store } = deps
  const { key } = await directory.openOne(context, 'read', bankId)
  if (store.versions === undefined) throw notSupported()
  const found = isUuid(id) ? await store.versions(key, id.toLowerCase(), clock()) : []
  if (found.length === 0) throw new ServiceError('not_found', 'No such memory')
  return { versions: found.map((version) => toVersion(bankId, version)) }
}

function toVersion (bankId: string, version: Version): MemoryVersion {
  const { memory_id: _id, bank_id: _bank, text, ...record } = toRecord(bankId, version)
  const { changedAt, changedBy, reason, endedAt, redacted } = version
  return {
    ...record,
    content: text,
    changed_at: formatInstant(changedAt),
    changed_by: changedBy,
    reason,
    ended_at: endedAt === null ? null : formatInstant(endedAt),
    redacted,
  }
}

async function redact (
  deps: Dependencies, { bank_id: bankId, memory_id: id, version }: OneMemoryRequest & { version: number }, call: Call,
): Promise<RedactAnswer> {
  const { admission, clock, directory, store } = deps
  const bank = await directory.openOne(call.context, 'forget', bankId)
  if (store.redact === undefined) throw notSupported()
  await admission.admit('forget', call, [bank])
  const memory = await existing(deps, bank.key, id)
  if (memory.version === version) {
    throw invalidField('version', 'must not be the last one, which is changed or forgotten instead')
  }
  const options = { now: clock(), signal: call.signal }
  if (!await store.redact(bank.key, memory.memoryId, version, options)) {
    throw new ServiceError('not_found', 'No such version')
  }
  return { memory_id: memory.memoryId, version, redacted: true }
}

/** What a rollback does with one memory. */
interface Step {
  revision: Revision
  /** Whether its text or speaker is another one, so that it has to be indexed. */
  isTold: boolean
  kind: 'restored' | 'retired'
}

async function rollback (
  deps: Dependencies, { bank_id: bankId, to, dry_run: isDry = false }: RollbackRequest & { bank_id: string },
  call: Call,
): Promise<RollbackAnswer> {
  const { admission, clock, directory, indexer, store } = deps
  const bank = await directory.openOne(call.context, 'admin', bankId)
  if (store.revise === undefined || store.changedAfter === undefined) throw notSupported()
  const instant = instantField('to', to)
  if (instant > clock()) throw invalidField('to', 'must not lie in the future')
  const admitted = await admission.admit('retain', call, [bank], 1)
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { steps, unrecoverable } = await planRollback(deps, bank, instant, call)
      const count = (kind: Step['kind']) => steps.filter((step) => step.kind === kind).length
      const answer = { restored: count('restored'), retired: count('retired'), unrecoverable }
      if (isDry || steps.length === 0) return answer
      const revisions = await indexSteps(deps, bank, steps, call)
      try {
        await indexer.runReplacement(bank.key, revisions.map(({ memory }) => memory), async () => {
          await store.revise!(bank.key, revisions, { now: clock(), signal: call.signal })
        })
        indexer.scheduleVectors(bank.key, undefined)
        return answer
      } catch (error) {
        if (!(error instanceof MemoryChangedError)) throw error
      }
    }
    throw new ServiceError('conflict', 'Memories of the bank are being changed by others')
  } catch (error) {
    admitted.release()
    throw refusalOf(error)
  }
}

async function planRollback (
  deps: Dependencies, { key }: OpenBank, instant: number, call: Call,
): Promise<{ steps: Step[], unrecoverable: number }> {
  const { clock, store } = deps
  const now = clock()
  const changed = await store.changedAfter!(key, { instant, now, limit: MAX_ROLLED_BACK + 1 })
  if (changed.length > MAX_ROLLED_BACK) {
    throw invalidField('to', `must be later: more than ${MAX_ROLLED_BACK} memories have changed since`)
  }
  let unrecoverable = await store.countRemovedAfter?.(key, instant) ?? 0
  const steps: Step[] = []
  for (const each of changed) {
    if (each.then?.redacted === true && each.then.state === 'current') unrecoverable++
    else {
      const step = stepOf(deps, call, each, now)
      if (step !== undefined) steps.push(step)
    }
  }
  return { steps, unrecoverable }
}

function stepOf (
  deps: Dependencies, call: Call, { memory, then }: ChangedMemory, now: number,
): Step | undefined {
  const made = nextVersion(deps, call, memory, 'rollback')
  if (then?.state === 'current') {
    const before = memoryOf(then)
    // A time of expiry that has passed meanwhile would remove the memory.
    const expiresAt = before.expiresAt !== null && before.expiresAt <= now ? memory.expiresAt : before.expiresAt
    const next = { ...before, expiresAt, retainedAt: memory.retainedAt, ...made }
    if (!differs(memory, next)) return undefined
    const isTold = next.text !== memory.text || next.speaker !== memory.speaker
    return { revision: revisionOf(next), isTold, kind: 'restored' }
  }
  if (memory.state !== 'current') return undefined
  const state: Partial<Memory> = then === undefined
    ? { state: 'retired' }
    : {
        state: then.state,
        supersededBy: then.supersededBy,
        validUntil: then.redacted ? memory.validUntil : then.validUntil,
      }
  return { revision: revisionOf({ ...memory, ...made, ...state }), isTold: false, kind: 'retired' }
}

async function indexSteps (
  { indexer }: Dependencies, { settings }: OpenBank, steps: readonly Step[], { signal }: Call,
): Promise<Revision[]> {
  const told = steps.filter(({ isTold }) => isTold).map(({ revision }) => revision)
  const indexed = await indexer.index(told, settings.retrieval.chunk_max_characters, signal)
  const passages = new Map(indexed.map(({ memoryId, passages }) => [memoryId, passages]))
  return steps.map(({ revision }) => ({ ...revision, passages: passages.get(revision.memory.memoryId) }))
}
