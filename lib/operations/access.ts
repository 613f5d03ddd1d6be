import { getAccess as accessOfCaller, permissionsOnBank } from './bank-browser.js'
import { operation } from './operation.js'
import { AccessAnswer, AccessQuery, WhoamiAnswer, WhoamiQuery } from './schemas.js'

export const whoami = operation({
  name: 'whoami',
  tag: 'identity',
  summary: 'Get the identity of the caller, as the service sees it',
  description: 'With `?bank_id=`, also returns the permissions of the caller on that bank and the grant or ' +
    'policy that gives each of them.',
  request: WhoamiQuery,
  answer: WhoamiAnswer,
  errors: [],
  run: async (deps, { bank_id: bankId }, { context }) => ({
    principal: context.principal ?? null,
    actor: context.actor ?? null,
    tenant_id: context.tenantId,
    on_behalf_of: context.onBehalfOf ?? null,
    permissions: bankId === undefined ? undefined : await permissionsOnBank(deps, bankId, context),
  }),
})

export const getAccess = operation({
  name: 'getAccess',
  tag: 'identity',
  summary: 'List the permissions of the caller on each bank',
  description: 'Returns the banks that the caller may read, each with the permissions of the caller and the ' +
    'grant or policy that gives each of them.',
  request: AccessQuery,
  answer: AccessAnswer,
  errors: [],
  run: accessOfCaller,
})
