import type { WhoamiAnswer } from 'memory-gateway-client'
import { firstPage } from '../state/first-page.js'
import { client } from '../state/session.js'
import { useLoad } from '../state/use-load.js'
import { isBankId } from '../text/bank-id.js'

export type Permission = NonNullable<WhoamiAnswer['permissions']>[number]['permission']

/**
 * Whether the caller has a permission on a bank. Until the server has said so it counts as granted, because the server
 * decides anyway.
 */
export function usePermissions (bank: string): (permission: Permission) => boolean {
  const { data } = useLoad(async (signal) => (
    isBankId(bank) ? await client.value.whoami({ bank_id: bank }, { signal }) : undefined
  ), [bank])
  const granted = data?.permissions
  return (permission) => granted === undefined || granted.some((entry) => entry.permission === permission)
}

/**
 * Whether the caller may ask a bank, and whether it has an answer to anything. Until the server has said so, both are
 * taken for granted.
 */
export function useReadable (bank: string): { mayRead: boolean, isEmpty: boolean } {
  const mayRead = usePermissions(bank)('read')
  const { data } = useLoad(async (signal) => (
    isBankId(bank) && mayRead
      ? await firstPage(client.value.listMemories({ bank_id: bank, limit: 1 }, { signal }))
      : undefined
  ), [bank, mayRead])
  return { mayRead, isEmpty: mayRead && data?.memories.length === 0 }
}

/** Why an action is disabled. */
export function MissingPermission (
  { permission, action, id }: { permission: Permission, action?: string, id?: string },
) {
  return (
    <p class='hint' {...(id !== undefined && { id })}>
      You need <code>{permission}</code> on this bank{action !== undefined && ` to ${action}`}.
    </p>
  )
}
