import { Type } from 'typebox'
import { isAtLeast } from '../access/trust.js'
import type { BankKey } from '../access/context.js'
import { withoutUndefined } from '../base/members.js'
import { isUuid } from '../base/ids.js'
import { invalidField, ServiceError } from '../base/service-error.js'
import { supersededBy } from '../stores/insert-plan.js'
import { type Metadata, newLife, NOTHING_SAID } from '../stores/memory-fields.js'
import { type Memory, MemoryChangedError, type Revision } from '../stores/vector-store.js'
import { requirePrecondition } from './bank-configurations.js'
import { mayRead, type OpenBank } from './bank-directory.js'
import type { Call, Dependencies } from './dependencies.js'
import { LIMIT_ERRORS, operation } from './operation.js'
import { checkItem, inspect, prepare } from './preparation.js'
import { nullableInstant, toRecord } from './records.js'
import { refusalOf } from './refusals.js'
import {
  BankId, MAX_PATCH_REASON, MemoryPatch, MemoryRecord, type RetainItem, RetireReason, strict,
} from './schemas.js'

export const OneMemory = { bank_id: BankId, memory_id: Type.String({ maxLength: 128 }) }
export const CHANGE_ERRORS = [
  ...LIMIT_ERRORS, 'not_found', 'precondition_failed', 'conflict', 'place_taken', 'higher_trust', 'not_current',
  'not_supported', 'model_output_invalid',
] as const
const note = Type.Optional(Type.String({
  minLength: 1, maxLength: MAX_PATCH_REASON, description: 'For readers of its versions.',
}))
/** How often a change is made again that another one overtook. */
const MAX_ATTEMPTS = 5

export const patchMemory = operation({
  name: 'patchMemory',
  tag: 'memory',
  permission: 'write',
  summary: 'Change a memory',
  description: 'A merge patch (RFC 7396): members that are given replace those of the memory, and null removes one. ' +
    'The memory keeps its id and gets its next version; the version before it can still be read. The content is ' +
    'checked and indexed as in retain. A patch that changes nothing makes no version.',
  request: strict({ ...OneMemory, ...MemoryPatch.properties }, {
    examples: [{ content: 'Alice prefers green tea.', reason: 'She said so today.' }],
  }),
  answer: MemoryRecord,
  errors: CHANGE_ERRORS,
  conditional: 'match',
  tool: {
    title: 'Correct a memory',
    description: 'Changes a memory that was recorded wrongly: its content, tags, times or key. The earlier version ' +
      'is kept. For a fact that has changed in the world, store a new memory that supersedes this one instead.',
    omit: ['metadata'],
  },
  run: patch,
})

export const retireMemory = operation({
  name: 'retireMemory',
  tag: 'memory',
  permission: 'write',
  summary: 'Take a memory back',
  description: 'The memory is kept, with its text, but no ordinary recall finds it; readers find it with ' +
    '`state: "history"`. It can be restored.',
  request: strict({
    ...OneMemory,
    reason: RetireReason,
    by: Type.Optional(Type.String({
      format: 'uuid', description: 'With the reason `superseded`: the memory that took its place.',
    })),
    note,
  }, { examples: [{ reason: 'invalidated', note: 'She never said this.' }] }),
  answer: MemoryRecord,
  errors: CHANGE_ERRORS,
  conditional: 'match',
  tool: {
    title: 'Take a memory back',
    description: 'Marks a memory as not true any more (superseded) or never true (invalidated), without deleting it. ' +
      'It can be restored. Use it instead of deleting when a fact turns out to be wrong or out of date.',
  },
  run: retire,
})

export const restoreMemory = operation({
  name: 'restoreMemory',
  tag: 'memory',
  permission: 'write',
  summary: 'Make a superseded or retired memory current again',
  request: strict({ ...OneMemory, note }, { examples: [{ note: 'It is so after all.' }] }),
  answer: MemoryRecord,
  errors: CHANGE_ERRORS,
  conditional: 'match',
  tool: {
    title: 'Restore a memory',
    description: 'Makes a superseded or retired memory current again.',
  },
  run: restore,
})

type OneMemoryRequest = Readonly<{ bank_id: string, memory_id: string }>
/** The next version of a memory; undefined when nothing changes. */
type Change = (memory: Memory, bank: OpenBank) => Promise<Revision | undefined>

/**
 * Changes a memory; again when another change overtook it, unless the caller required a version.
 * @throws ServiceError of CHANGE_ERRORS
 */
async function change (
  deps: Dependencies, { bank_id: bankId, memory_id: id }: OneMemoryRequest, call: Call, next: Change,
): Promise<MemoryRecord> {
  const { admission, clock, directory, indexer, live, store } = deps
  const bank = await directory.openOne(call.context, 'write', bankId)
  if (store.revise === undefined) throw notSupported()
  // A caller who may write but not read is not shown what others have written.
  const isShown = mayRead(deps, call.context, bank)
  const answer = (memory: Memory) => toRecord(bankId, isShown ? memory : { ...memory, ...NOTHING_SAID })
  const admitted = await admission.admit('retain', call, [bank], 1)
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const memory = await existing(deps, bank.key, id)
      requirePrecondition(call.precondition, etagOf(memory), 'The version of the memory')
      if (!isAtLeast(live.current.trust.of(call.context), memory.trust)) {
        throw new ServiceError('higher_trust', 'The memory is of higher trust than the caller')
      }
      const revision = await next(memory, bank)
      if (revision === undefined) return answer(memory)
      try {
        await indexer.runReplacement(bank.key, [memory], async () => {
          await store.revise!(bank.key, [revision], { now: clock(), signal: call.signal })
        })
        indexer.scheduleVectors(bank.key, undefined)
        return answer(revision.memory)
      } catch (error) {
        if (!(error instanceof MemoryChangedError)) throw error
      }
    }
    throw new ServiceError('conflict', 'The memory is being changed by others')
  } catch (error) {
    admitted.release()
    throw refusalOf(error)
  }
}

export function notSupported (): ServiceError {
  return new ServiceError('not_supported', 'The configured vector store keeps no versions')
}

/** @throws ServiceError not_found */
export async function existing ({ store, clock }: Dependencies, bank: BankKey, id: string): Promise<Memory> {
  const memory = isUuid(id) ? await store.get(bank, id.toLowerCase(), clock()) : undefined
  if (memory === undefined) throw new ServiceError('not_found', 'No such memory')
  return memory
}

export function etagOf ({ version }: Pick<Memory, 'version'>): string {
  return `"${version}"`
}

/** What every next version has. */
export function nextVersion (
  deps: Pick<Dependencies, 'clock'>, call: Pick<Call, 'context'>, memory: Memory, reason: string | null,
): Pick<Memory, 'version' | 'changedAt' | 'changedBy' | 'reason'> {
  return {
    version: memory.version + 1,
    // Not before the version that it follows, whose clock may have been another's.
    changedAt: Math.max(deps.clock(), memory.changedAt),
    changedBy: call.context.principal ?? null,
    reason,
  }
}

async function patch (
  deps: Dependencies, { bank_id: bankId, memory_id: memoryId, reason, ...patch }: OneMemoryRequest & MemoryPatch,
  call: Call,
): Promise<MemoryRecord> {
  return await change(deps, { bank_id: bankId, memory_id: memoryId }, call, async (memory, bank) => {
    if (memory.state !== 'current') {
      throw new ServiceError('not_current', `The memory is ${memory.state}: restore it before it is changed`)
    }
    const item = checkItem(patched(memory, patch), bank, '')
    if (item.expiresAt !== null && item.expiresAt !== memory.expiresAt && item.expiresAt <= deps.clock()) {
      throw invalidField('expires_at', 'must lie in the future')
    }
    const { changedAt, changedBy, ...life } = nextVersion(deps, call, memory, reason ?? null)
    const { retainedAt, kind, derivedFrom, supersedes, message } = memory
    const [prepared] = await prepare([{
      item: { ...item, supersedes, message },
      memoryId: memory.memoryId,
      retainedAt,
      // Who leaves the content as it is does not vouch for it.
      trust: patch.content === undefined ? memory.trust : deps.live.current.trust.of(call.context),
      changedBy,
      life: { ...newLife({ changedAt, changedBy }), ...life, kind, derivedFrom },
    }], call.signal)
    const { memory: next, fingerprint } = prepared!
    if (!differs(memory, next)) return undefined
    if (next.text === memory.text && next.speaker === memory.speaker) return { memory: next, fingerprint }
    const [indexed] = await deps.indexer.index(
      [{ memory: next, fingerprint }], bank.settings.retrieval.chunk_max_characters, call.signal,
    )
    return { memory: next, fingerprint, passages: indexed!.passages }
  })
}

type Patch = Omit<MemoryPatch, 'reason'>

/** The memory as a retain would send it, with the members of the patch. */
function patched (memory: Memory, patch: Patch): RetainItem {
  const told = <T>(given: T | null | undefined, before: T | undefined) => given === null ? undefined : given ?? before
  const instant = (value: number | null) => nullableInstant(value) ?? undefined
  return withoutUndefined({
    content: patch.content ?? memory.text,
    tags: told(patch.tags, memory.tags.length === 0 ? undefined : [...memory.tags]),
    metadata: patchedMetadata(memory, patch),
    speaker: told(patch.speaker, memory.speaker ?? undefined),
    occurred_at: told(patch.occurred_at, instant(memory.occurredAt)),
    expires_at: told(patch.expires_at, instant(memory.expiresAt)),
    key: told(patch.key, memory.key ?? undefined),
    valid_from: told(patch.valid_from, instant(memory.validFrom)),
    valid_until: told(patch.valid_until, instant(memory.validUntil)),
    document_id: memory.documentId ?? undefined,
    source: memory.source ?? undefined,
  })
}

/** The metadata that a retain would send: another speaker than before is not that of the metadata. */
function patchedMetadata ({ metadata }: Memory, { metadata: changes, speaker }: Patch): Metadata | undefined {
  if (changes === null) return undefined
  const merged: Metadata = { ...metadata }
  if (speaker !== undefined) delete merged['speaker']
  for (const [name, value] of Object.entries(changes ?? {})) {
    if (value === null) delete merged[name]
    else merged[name] = value
  }
  return merged
}

const UNCOUNTED = new Set(['version', 'changedAt', 'changedBy', 'reason', 'tokens', 'trust'])

/** Whether two versions differ in more than when and by whom they were made. */
export function differs (a: Memory, b: Memory): boolean {
  const told = (memory: Memory) => JSON.stringify(
    Object.entries(memory).filter(([name]) => !UNCOUNTED.has(name)).sort(([a], [b]) => a < b ? -1 : 1),
  )
  return told(a) !== told(b)
}

async function retire (
  deps: Dependencies,
  { reason, by, note, ...request }: OneMemoryRequest & { reason: RetireReason, by?: string, note?: string }, call: Call,
): Promise<MemoryRecord> {
  if (by !== undefined && reason !== 'superseded') throw invalidField('by', 'needs the reason superseded')
  if (by?.toLowerCase() === request.memory_id.toLowerCase()) throw invalidField('by', 'must be another memory')
  return await change(deps, request, call, async (memory, { key }) => {
    if (memory.state !== 'current') throw new ServiceError('not_current', `The memory is ${memory.state} already`)
    const successor = by === undefined ? undefined : await deps.store.get(key, by.toLowerCase(), deps.clock())
    if (by !== undefined && successor === undefined) {
      throw invalidField('by', 'names a memory that the bank does not have')
    }
    const told = note === undefined ? reason : `${reason}: ${note}`
    const state = reason === 'superseded'
      ? supersededBy(memory, successor ?? { memoryId: null, validFrom: null, occurredAt: null }, deps.clock())
      : { state: 'retired' as const }
    return revisionOf({ ...memory, ...nextVersion(deps, call, memory, told), ...state })
  })
}

async function restore (
  deps: Dependencies, { note, ...request }: OneMemoryRequest & { note?: string }, call: Call,
): Promise<MemoryRecord> {
  return await change(deps, request, call, async (memory, { key }) => {
    if (memory.state === 'current') return undefined
    const versions = await deps.store.versions!(key, memory.memoryId, deps.clock())
    // What ended its validity was that it was superseded.
    const before = versions.find(({ state }) => state === 'current')
    return revisionOf({
      ...memory,
      ...nextVersion(deps, call, memory, note === undefined ? 'restored' : `restored: ${note}`),
      state: 'current',
      supersededBy: null,
      validUntil: before === undefined || before.redacted ? memory.validUntil : before.validUntil,
    })
  })
}

/** A version with the text and the speaker of the one before. */
export function revisionOf (memory: Memory): Revision {
  return { memory, fingerprint: inspect(memory).fingerprint }
}
