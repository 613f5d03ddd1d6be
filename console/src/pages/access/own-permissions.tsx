import { useState } from 'preact/hooks'
import { SafeText } from '../../components/safe-text.js'
import { EmptyState, ListingEnd, Loadable } from '../../components/states.js'
import { firstPage } from '../../state/first-page.js'
import { currentBank } from '../../state/current-bank.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { usePages } from '../../state/use-pages.js'
import { PermissionMatrix, PERMISSIONS, Principal } from './permission-matrix.js'

const PAGE_SIZE = 100

/** What the caller may do. */
export function OwnPermissions () {
  const [identity, setIdentity] = useState<{ tenant: string | null, onBehalfOf: string | null } | undefined>(undefined)
  const { items, error, isLoading, hasMore, loadMore } = usePages(async (cursor, signal) => {
    const query = { limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) }
    const page = await firstPage(client.value.getAccess(query, { signal }))
    setIdentity({ tenant: page.tenant_id, onBehalfOf: page.on_behalf_of })
    return { items: page.banks.map((bank) => ({ ...bank, principal: page.principal })), cursor: page.next_cursor }
  }, [])
  const isEmpty = items.length === 0 && !hasMore && !isLoading && error === undefined
  return (
    <>
      <BankPermissions />
      <section class='card' aria-labelledby='access-mine'>
        <h2 id='access-mine'>Banks that you may read</h2>
        {identity !== undefined && (identity.tenant !== null || identity.onBehalfOf !== null) && (
          <p>
            {identity.tenant !== null && <>In the tenant <SafeText text={identity.tenant} isExpandable={false} />. </>}
            {identity.onBehalfOf !== null && (
              <>On behalf of <SafeText text={identity.onBehalfOf} isExpandable={false} />: only what both may do.</>
            )}
          </p>
        )}
        {isEmpty && (
          <EmptyState title='There is no bank that you may read.'>
            <p>You may be allowed to write to a bank that you may not read: choose it in the menu.</p>
            <p>Ask an admin of a bank, or the operator of this server, for permissions.</p>
          </EmptyState>
        )}
        {items.length > 0 && <PermissionMatrix caption='What you may do' rows={items} hasMore={hasMore} />}
        <ListingEnd error={error} isLoading={isLoading} hasMore={hasMore} loadMore={loadMore} />
      </section>
    </>
  )
}

/** The current bank, which may be one that the caller may not read. */
function BankPermissions () {
  const bank = currentBank.value
  return (
    <section class='card' aria-labelledby='access-bank'>
      <h2 id='access-bank'>This bank</h2>
      {bank === ''
        ? <p>Choose a bank in the menu: any id, even of one that does not exist yet.</p>
        : <PermissionList key={bank} bank={bank} />}
    </section>
  )
}

function PermissionList ({ bank }: { bank: string }) {
  const loaded = useLoad(async (signal) => await client.value.whoami({ bank_id: bank }, { signal }), [bank])
  return (
    <Loadable loaded={loaded}>
      {({ principal, permissions = [] }) => (
        <>
          <p>
            <Principal principal={principal} /> {permissions.length === 0 ? 'may do nothing on' : 'on'}{' '}
            <SafeText text={bank} isExpandable={false} />:
          </p>
          <dl class='facts'>
            {PERMISSIONS.map((permission) => {
              const found = permissions.find((entry) => entry.permission === permission)
              return [
                <dt key={permission}>{permission}</dt>,
                <dd key={`${permission} rule`}>
                  {found === undefined
                    ? <span class='badge danger'>not granted</span>
                    : <><span class='badge good'>granted</span> by <SafeText text={found.granted_by} /></>}
                </dd>,
              ]
            })}
          </dl>
        </>
      )}
    </Loadable>
  )
}
