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
  const { data } = useLoad(async (signal) => {
    if (!isBankId(bank)) return undefined
    const { permissions } = await client.value.whoami({ bank_id: bank }, { signal })
    const mayRead = permissions === undefined || permissions.some(({ permission }) => permission === 'read')
    if (!mayRead) return { mayRead, isEmpty: false }
    const { memories } = await firstPage(client.value.listMemories({ bank_id: bank, limit: 1 }, { signal }))
    return { mayRead, isEmpty: memories.length === 0 }
  }, [bank])
  return data ?? { mayRead: true, isEmpty: false }
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
