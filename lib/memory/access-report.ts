import { deniedDetail, PERMISSIONS } from '../access/access-control.js'
import { mapGivingWay } from '../concurrency/event-loop.js'
import { invalidField } from '../errors/service-error.js'
import { bankOf, isPrincipal, type RequestContext } from '../identity/context.js'
import { PRINCIPAL_IN_WORDS } from '../validation/ids.js'
import { pageSize, RESOLVE_BATCH, type Banks } from './banks.js'
import type { Dependencies } from './dependencies.js'
import type { OpenBank } from './file-settings.js'
import type { OperationOptions } from './operation-options.js'
import {
  MAX_GRANTS, type AccessAnswer, type AccessCheckRequest, type AccessDecision, type AccessQuery,
  type AccessRulesAnswer, type AdminAccessQuery,
} from './schemas.js'

type GrantedPermissions = AccessAnswer['banks'][number]['permissions']

/** Reports permissions on banks, and the rules that grant them. */
export class AccessReport {
  readonly #deps: Dependencies
  readonly #banks: Banks

  constructor (deps: Dependencies, banks: Banks) {
    this.#deps = deps
    this.#banks = banks
  }

  /** The caller's permissions on one bank, each with the grant or policy that is its source. */
  async onBank (bankId: string, context: RequestContext): Promise<GrantedPermissions> {
    const [bank] = await this.#deps.directory.resolve([bankOf(context, bankId)])
    return this.#permissions(bank!, context)
  }

  /** The caller's permissions on the banks that it may read, in the pages of `Banks.list`; others are not listed. */
  async ofCaller (
    query: AccessQuery, context: RequestContext, options: Pick<OperationOptions, 'signal'> = {},
  ): Promise<AccessAnswer> {
    const { banks, next_cursor: next } = await this.#banks.list(query, context, options)
    return await this.#answer(banks.map(({ bank_id: bankId }) => bankId), next, context)
  }

  /** For operators: a caller's permissions on every bank of its tenant. */
  async ofPrincipal (query: AdminAccessQuery): Promise<AccessAnswer> {
    const { store, clock } = this.#deps
    const context = contextOf(query)
    const limit = pageSize(query.limit)
    const after = this.#banks.afterCursor(query.cursor, context)
    const found = await store.listBanks({
      now: clock(),
      tenantId: context.tenantId,
      limit: limit + 1,
      after,
    })
    const shown = found.slice(0, limit)
    const next = found.length > limit ? this.#banks.cursorAfter(shown.at(-1)!) : null
    return await this.#answer(shown.map(({ bankId }) => bankId), next, context)
  }

  /** For operators: whether a caller has a permission, and why. */
  async check (request: AccessCheckRequest): Promise<AccessDecision> {
    const { access, directory } = this.#deps
    const context = contextOf(request)
    const { bank_id: bankId, permission } = request
    const [bank] = await directory.resolve([bankOf(context, bankId)])
    const { allowed, grantedBy } = access.decide(context, permission, bankId, bank!.grants)
    if (!allowed) return { allowed, granted_by: null, reason: deniedDetail(context, permission, bankId) }
    return { allowed, granted_by: grantedBy!, reason: `Allowed by ${grantedBy}` }
  }

  /** For operators: the rules of the configuration file. */
  rules (): AccessRulesAnswer {
    const { enabled, defaultPolicy, ownerPatterns, grants } = this.#deps.live.current.access
    return {
      enabled,
      default_policy: defaultPolicy,
      owner_patterns: [...ownerPatterns],
      grants: grants.slice(0, MAX_GRANTS).map(({ bankId, principal, permissions, origin }) => (
        { bank_id: bankId, principal, permissions: [...permissions], origin }
      )),
      truncated: grants.length > MAX_GRANTS,
    }
  }

  async #answer (
    bankIds: readonly string[], nextCursor: string | null, context: RequestContext,
  ): Promise<AccessAnswer> {
    const open: OpenBank[] = []
    for (let at = 0; at < bankIds.length; at += RESOLVE_BATCH) {
      const batch = bankIds.slice(at, at + RESOLVE_BATCH)
      open.push(...await this.#deps.directory.resolve(batch.map((bankId) => bankOf(context, bankId))))
    }
    return {
      principal: context.principal ?? null,
      tenant_id: context.tenantId,
      on_behalf_of: context.onBehalfOf ?? null,
      banks: await mapGivingWay(open, (bank) => ({
        bank_id: bank.key.bankId, permissions: this.#permissions(bank, context),
      })),
      next_cursor: nextCursor,
    }
  }

  #permissions ({ key, grants }: OpenBank, context: RequestContext): GrantedPermissions {
    return PERMISSIONS.flatMap((permission) => {
      const { allowed, grantedBy } = this.#deps.access.decide(context, permission, key.bankId, grants)
      return allowed ? [{ permission, granted_by: grantedBy! }] : []
    })
  }
}

/** @throws ServiceError invalid_request for an invalid principal */
function contextOf (
  identity: Pick<AccessCheckRequest, 'principal' | 'tenant_id' | 'on_behalf_of'>,
): RequestContext {
  const { principal, tenant_id: tenantId = null, on_behalf_of: onBehalfOf } = identity
  for (const [field, name] of [['principal', principal], ['on_behalf_of', onBehalfOf]] as const) {
    if (name !== undefined && !isPrincipal(name)) {
      throw invalidField(field, `must be ${PRINCIPAL_IN_WORDS}`)
    }
  }
  return { tenantId, principal, onBehalfOf }
}
