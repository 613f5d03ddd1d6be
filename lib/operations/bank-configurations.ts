import { isDeepStrictEqual } from 'node:util'
import { bankKeyString, canMatchPrincipal, type BankKey, type RequestContext } from '../access/context.js'
import { formatInstant } from '../base/clock.js'
import { PRINCIPAL_PATTERN_IN_WORDS } from '../base/ids.js'
import { valueAt, isJsonObject } from '../base/json-object.js'
import { withoutUndefined } from '../base/members.js'
import { prepareInput, schemaCheck, MAX_NAME_CHARACTERS } from '../base/schema-check.js'
import { ServiceError, invalidField, invalidRequest, type FieldError } from '../base/service-error.js'
import { shorten } from '../base/shorten.js'
import { didYouMean, memberName } from '../base/wording.js'
import { BankConfigurationSchema, type BankConfiguration } from '../config/schema.js'
import type { BankConfigStore, NewBankConfig } from '../stores/bank-configs.js'
import type { RemovedBank } from '../stores/vector-store.js'
import { readStored, resolveBank, type StoredConfig, type OpenBank } from './bank-directory.js'
import { isRevisionPlace } from './cursor.js'
import type { Dependencies, Call } from './dependencies.js'
import { clamp, nullableInstant } from './records.js'
import {
  CONFIG_HISTORY_PAGE, type BankConfigAnswer, type BankConfigHistoryAnswer, type ConfigHistoryQuery,
  type DeleteBankAnswer,
} from './schemas.js'

/** Maximum number of attempts of a merge when other changes intervene, as those of other processes do. */
const ATTEMPTS = 10

interface OneBank {
  bank_id: string
}

/** A change of a configuration. */
interface Change {
  /** Whether the new configuration depends on the existing one, so that no other change may come between. */
  needsExisting: boolean
  next: (existing: BankConfiguration) => unknown
}

/** @throws ServiceError access_denied, dependency_unavailable */
export async function getBankConfig (
  deps: Dependencies, { bank_id: bankId }: OneBank, { context }: Call,
): Promise<BankConfigAnswer> {
  const { key } = await deps.directory.openOne(context, 'admin', bankId)
  return toAnswer(key, await storedConfig(deps, key), deps)
}

/**
 * Replaces the configuration.
 * @throws ServiceError invalid_request that names each invalid field; precondition_failed; not_supported
 */
export async function putBankConfig (
  deps: Dependencies, { bank_id: bankId, config }: OneBank & { config: unknown }, call: Call,
): Promise<BankConfigAnswer> {
  return await changeConfig(deps, bankId, call, { needsExisting: false, next: () => config })
}

/**
 * Merges a patch (RFC 7396) into the configuration.
 * @throws ServiceError as `put`; conflict when concurrent changes persist
 */
export async function patchBankConfig (
  deps: Dependencies, { bank_id: bankId, patch }: OneBank & { patch: unknown }, call: Call,
): Promise<BankConfigAnswer> {
  const next = (existing: BankConfiguration) => mergePatch(existing, patch, BankConfigurationSchema)
  return await changeConfig(deps, bankId, call, { needsExisting: true, next })
}

/** Removes the configuration. @throws ServiceError as `put` */
export async function resetBankConfig (
  deps: Dependencies, { bank_id: bankId }: OneBank, call: Call,
): Promise<BankConfigAnswer> {
  return await changeConfig(deps, bankId, call, { needsExisting: false, next: () => null })
}

/** A page of the history of the configuration, newest first. @throws ServiceError invalid_request for the cursor */
export async function getBankConfigHistory (
  deps: Dependencies, { bank_id: bankId, limit: wanted, cursor }: OneBank & ConfigHistoryQuery, { context }: Call,
): Promise<BankConfigHistoryAnswer> {
  const { directory, store: { bankConfigs }, cursors } = deps
  const { key } = await directory.openOne(context, 'admin', bankId)
  const limit = clamp(wanted ?? CONFIG_HISTORY_PAGE.default, CONFIG_HISTORY_PAGE.min, CONFIG_HISTORY_PAGE.max)
  const list = `history of ${bankId}`
  const [before] = cursor === undefined ? [] : cursors.open(list, key.tenantId, cursor, isRevisionPlace)
  // One more than a page shows whether there is a next one.
  const entries = await bankConfigs?.history(key, { limit: limit + 1, before }) ?? []
  const shown = entries.slice(0, limit)
  return {
    next_cursor: entries.length > limit ? cursors.seal(list, key.tenantId, [shown.at(-1)!.revision]) : null,
    history: shown.map(({ document, ...rest }) => {
      const { configuration, etag, updatedAt, updatedBy } = readStored({ document, ...rest })
      const config = document === null ? null : configuration
      return { config, etag, updated_at: formatInstant(updatedAt), updated_by: updatedBy }
    }),
  }
}

/** Removes a bank with its memories, configuration and history. */
export async function deleteBank (
  deps: Dependencies, { bank_id: bankId }: OneBank, call: Call,
): Promise<DeleteBankAnswer> {
  const { context, signal } = call
  const { directory, admission } = deps
  const bank = await directory.openOne(context, 'admin', bankId)
  await admission.admit('forget', call, [bank])
  const { memoryCount, configRemoved } = await removeBank(deps, bank.key, context, signal)
  directory.invalidate(bank.key)
  return { bank_id: bankId, deleted_count: memoryCount, config_deleted: configRemoved }
}

async function removeBank (
  deps: Dependencies, key: BankKey, context: RequestContext, signal: AbortSignal | undefined,
): Promise<RemovedBank> {
  const { store, clock } = deps
  if (store.removeBank !== undefined) return await store.removeBank(key, clock(), signal)
  const { count } = await store.remove(key, { kind: 'all' }, { now: clock(), dryRun: false, idLimit: 0, signal })
  // The configuration is removed last: if removing the memories fails, its grants may be needed for a retry.
  return { memoryCount: count, configRemoved: await removeConfig(deps, key, context) }
}

/** For operators: the configuration of a bank of any tenant. */
export async function inspectBankConfig (deps: Dependencies, key: BankKey): Promise<BankConfigAnswer> {
  return toAnswer(key, await storedConfig(deps, key), deps)
}

/** For operators: removes the configuration of a bank of any tenant. @throws ServiceError not_supported */
export async function revokeBankConfig (deps: Dependencies, key: BankKey): Promise<BankConfigAnswer> {
  const configs = storeOf(deps)
  await configs.write(key, { document: null, updatedAt: deps.clock(), updatedBy: null })
  deps.directory.invalidate(key)
  return toAnswer(key, undefined, deps)
}

/**
 * Checks a configuration that is to be stored together with other data.
 * @param at the prefix of field names in errors
 * @returns the change, and the bank as it is once the change is stored
 * @throws ServiceError as `put`
 */
export function changeTo (
  deps: Dependencies, key: BankKey, configuration: unknown, context: RequestContext, at: string,
): { change: NewBankConfig, target: OpenBank } {
  storeOf(deps)
  const checked = checkBankConfiguration(key.bankId, configuration, deps, { at })
  return { change: changeOf(deps, checked, context), target: resolveBank(key, checked, deps.live.current) }
}

async function changeConfig (
  deps: Dependencies, bankId: string, call: Call, change: Change,
): Promise<BankConfigAnswer> {
  const bank = await deps.directory.openOne(call.context, 'admin', bankId)
  const { key } = bank
  storeOf(deps)
  await deps.admission.admit('configure', call, [bank])
  const attempt = async () => await attemptChange(deps, key, call, change)
  return change.needsExisting ? await deps.queues.settings.run(bankKeyString(key), attempt) : await attempt()
}

async function attemptChange (
  deps: Dependencies, key: BankKey, { context, precondition }: Call, { needsExisting, next }: Change,
): Promise<BankConfigAnswer> {
  const configs = storeOf(deps)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const existing = needsExisting || precondition !== undefined ? await storedConfig(deps, key) : undefined
    requirePrecondition(precondition, existing?.etag ?? UNSET_ETAG)
    const before = existing?.configuration ?? {}
    const proposed = next(before)
    if (proposed === before) return toAnswer(key, existing, deps)
    const changes = needsExisting ? existing?.configuration : undefined
    const checked = proposed === null ? null : checkBankConfiguration(key.bankId, proposed, deps, { changes })
    const change = changeOf(deps, checked, context)
    const expected = needsExisting || precondition !== undefined ? { expected: existing?.revision ?? 0 } : {}
    const { changed, revision } = await configs.write(key, { ...change, ...expected })
    if (changed) {
      deps.directory.invalidate(key)
      return toAnswer(key, change.document === null ? undefined : readStored({ ...change, revision }), deps)
    }
  }
  throw new ServiceError(
    'conflict', 'Other changes of the bank\'s configuration were made at the same time; read it and try again',
  )
}

function changeOf (
  deps: Dependencies, configuration: BankConfiguration | null, context: RequestContext,
): NewBankConfig {
  return {
    document: configuration === null ? null : JSON.stringify(configuration),
    updatedAt: deps.clock(),
    updatedBy: context.principal ?? null,
  }
}

/** Removes the configuration in a store without `removeBank`. @returns whether any was set */
async function removeConfig (deps: Dependencies, key: BankKey, context: RequestContext): Promise<boolean> {
  const { bankConfigs } = deps.store
  if (bankConfigs === undefined || (await bankConfigs.read([key])).length === 0) return false
  const { changed } = await bankConfigs.write(key, changeOf(deps, null, context))
  return changed
}

export async function storedConfig (deps: Dependencies, key: BankKey): Promise<StoredConfig | undefined> {
  const { bankConfigs } = deps.store
  if (bankConfigs === undefined) return undefined
  const [found] = await bankConfigs.read([key])
  return found === undefined ? undefined : readStored(found.config)
}

function storeOf (deps: Dependencies): BankConfigStore {
  const { bankConfigs } = deps.store
  if (bankConfigs === undefined) {
    throw new ServiceError('not_supported', 'The configured vector store keeps no configuration of banks')
  }
  return bankConfigs
}

/** A bank's own configuration, the settings in force, and the origin of each value. */
function toAnswer (
  key: BankKey, stored: StoredConfig | undefined, { live, access }: Pick<Dependencies, 'live' | 'access'>,
): BankConfigAnswer {
  const { operator, bankGrants } = live.current
  const { access: grants = [], ...own } = stored?.configuration ?? {}
  const { settings: effective, origin } = operator.explain(key.bankId, own)
  const granted = access.grantsOn(key.bankId).map(({ principal, permissions }) => (
    { principal, permissions: [...permissions] }
  ))
  const ownInForce = bankGrants ? grants : []
  const origins: BankConfigAnswer['origin'] = {
    ...origin, access: ownInForce.length > 0 ? 'bank' : granted.length > 0 ? 'file' : 'default',
  }
  const profile = operator.profileOf(key.bankId, own.profile)
  if (profile !== undefined) origins['profile'] = profile.origin
  return {
    config: stored?.configuration ?? {},
    effective: withoutUndefined({ access: [...granted, ...ownInForce], ...effective, profile: profile?.name }),
    origin: origins,
    ceilings: operator.ceilings(key.bankId),
    etag: stored?.etag ?? UNSET_ETAG,
    updated_at: nullableInstant(stored?.updatedAt ?? null),
    updated_by: stored?.updatedBy ?? null,
  }
}

/** Maximum bytes of a configuration as JSON. */
const MAX_BYTES = 32_768

const checkSchema = schemaCheck(BankConfigurationSchema)

type Rules = Pick<Dependencies, 'access' | 'live'>

interface CheckOptions {
  /** What comes before the field names of errors; default nothing. */
  at?: string
  /**
   * The configuration being changed: the file may have made a value in it invalid, which a change of other values does
   * not touch.
   */
  changes?: BankConfiguration | undefined
}

/**
 * Checks a value against the schema and against what the operator allows in the bank.
 * @throws ServiceError invalid_request
 */
function checkBankConfiguration (
  bankId: string, value: unknown, rules: Rules, { at = '', changes }: CheckOptions = {},
): BankConfiguration {
  prepareInput(value, BankConfigurationSchema)
  const configuration = checkSchema(value, at)
  if (Buffer.byteLength(JSON.stringify(configuration)) > MAX_BYTES) {
    throw invalidField(
      at.replace(/\.$/, ''), `The configuration must not be larger than ${MAX_BYTES} bytes as JSON`,
    )
  }
  const before = changes === undefined ? [] : faultsOf(bankId, changes, rules)
  const existedBefore = ({ field, message }: FieldError) => (
    before.some((one) => one.field === field && one.message === message)
  )
  const faults = faultsOf(bankId, configuration, rules).filter((fault) => {
    const { field } = fault
    return !(existedBefore(fault) && isDeepStrictEqual(valueAt(changes, field), valueAt(configuration, field)))
  })
  if (faults.length > 0) {
    throw invalidRequest(faults.map(({ field, message }) => ({ field: `${at}${field}`, message })))
  }
  return configuration
}

function faultsOf (bankId: string, { access, ...own }: BankConfiguration, rules: Rules): FieldError[] {
  const { operator, bankGrants } = rules.live.current
  const faults = operator.faults(bankId, own)
  if (access !== undefined && !bankGrants) {
    faults.push({ field: 'access', message: 'is not allowed on this server (access_control.bank_grants is false)' })
  }
  if (access !== undefined && !rules.access.isEnabled) {
    faults.push({ field: 'access', message: 'has no effect, since access control is off on this server' })
  }
  for (const [index, { principal }] of (access ?? []).entries()) {
    if (canMatchPrincipal(principal)) continue
    faults.push({ field: `access[${index}].principal`, message: `must be ${PRINCIPAL_PATTERN_IN_WORDS}` })
  }
  return faults
}

/** Deeper than any valid configuration. */
const MAX_DEPTH = 16

/** The part of a JSON schema that tells which members an object may have. */
interface ObjectSchema {
  properties?: Record<string, object>
}

/**
 * Applies a merge patch: maps are merged, null removes a member, any other value replaces the present one.
 * Source: RFC 7396, section 2.
 * @param schema of the target: a patch that removes a member that neither the target nor the schema has is refused,
 *   because its name is probably misspelt
 * @returns a new value; neither argument is changed
 * @throws ServiceError invalid_request for such a member, and for a patch that is nested more than 16 levels deep
 */
export function mergePatch (
  target: unknown, patch: unknown, schema: ObjectSchema = {}, path: readonly string[] = [],
): unknown {
  if (!isJsonObject(patch)) return patch
  if (path.length === MAX_DEPTH) {
    throw invalidField('', `The patch is nested too deeply; the maximum is ${MAX_DEPTH} levels`)
  }
  const { properties } = schema
  const merged = new Map(Object.entries(isJsonObject(target) ? target : {}))
  for (const [key, value] of Object.entries(patch)) {
    const at = [...path, key]
    const isKnown = properties === undefined || Object.hasOwn(properties, key)
    if (value !== null) {
      merged.set(key, mergePatch(merged.get(key), value, isKnown ? properties?.[key] : {}, at))
    } else if (!merged.delete(key) && !isKnown) {
      const field = shorten(at.map(memberName).join('.'), MAX_NAME_CHARACTERS)
      throw invalidField(field, `is not a known field${didYouMean(key, Object.keys(properties))}`)
    }
  }
  return Object.fromEntries(merged)
}

/** A condition of a change: the configuration has one of these entity tags, or any configuration is set. */
export type Precondition = readonly string[] | 'set'

/** The entity tag of a bank without a configuration of its own. */
export const UNSET_ETAG = '"r0"'

/** @param etag of what is in force @throws ServiceError precondition_failed */
export function requirePrecondition (
  precondition: Precondition | undefined, etag: string, what = 'The configuration of the bank',
): void {
  if (precondition === undefined) return
  const holds = precondition === 'set' ? etag !== UNSET_ETAG : precondition.includes(etag)
  if (!holds) {
    throw new ServiceError(
      'precondition_failed',
      `${what} is not one that If-Match or If-None-Match allows: read it again and send its ETag`,
    )
  }
}
