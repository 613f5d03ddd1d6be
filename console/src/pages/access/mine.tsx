import { useState } from 'preact/hooks'
import { BankField } from '../../components/bank-field.js'
import { SafeText } from '../../components/safe-text.js'
import { Empty, Failure, Loadable, Loading } from '../../components/states.js'
import { firstPage } from '../../state/first-page.js'
import { changeParams, place } from '../../state/router.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { usePages } from '../../state/use-pages.js'
import { Matrix, PERMISSIONS, Principal } from './matrix.js'

const PAGE = 100

/** What the caller may do. */
export function Mine () {
  const [about, setAbout] = useState<{ tenant: string | null, onBehalfOf: string | null } | undefined>(undefined)
  const { items, error, isLoading, hasMore, more } = usePages(async (cursor, signal) => {
    const query = { limit: PAGE, ...(cursor !== undefined && { cursor }) }
    const page = await firstPage(client.value.getAccess(query, { signal }))
    setAbout({ tenant: page.tenant_id, onBehalfOf: page.on_behalf_of })
    return { items: page.banks.map((bank) => ({ ...bank, principal: page.principal })), cursor: page.next_cursor }
  }, [])
  const isEmpty = items.length === 0 && !isLoading && error === undefined
  return (
    <>
      <OneBank />
      <section class='card' aria-labelledby='access-mine'>
        <h2 id='access-mine'>Banks that you may read</h2>
        {about !== undefined && (about.tenant !== null || about.onBehalfOf !== null) && (
          <p>
            {about.tenant !== null && <>In the tenant <SafeText text={about.tenant} isExpandable={false} />. </>}
            {about.onBehalfOf !== null && (
              <>On behalf of <SafeText text={about.onBehalfOf} isExpandable={false} />: only what both may do.</>
            )}
          </p>
        )}
        {isEmpty && (
          <Empty title='There is no bank that you may read.'>
            <p>Whether you may write to one is shown above.</p>
            <p>An admin of a bank gives rights on it, and so does whoever keeps the configuration file.</p>
          </Empty>
        )}
        {items.length > 0 && <Matrix caption='What you may do' rows={items} hasMore={hasMore} />}
        {error !== undefined && <Failure error={error} retry={more} />}
        {isLoading && <Loading />}
        {hasMore && <div class='actions'><button type='button' aria-disabled={isLoading} onClick={more}>Load more</button></div>}
      </section>
    </>
  )
}

/** A bank by its id, which may be one that the caller may not read. */
function OneBank () {
  const bank = place.value.params.get('bank') ?? ''
  return (
    <section class='card' aria-labelledby='access-one'>
      <h2 id='access-one'>One bank</h2>
      <div class='access-one'>
        <BankField value={bank} onChange={(id) => { changeParams({ bank: id === '' ? null : id }) }} />
      </div>
      {bank === '' ? <p>Any bank by its id, also one that does not exist yet.</p> : <OnBank key={bank} bank={bank} />}
    </section>
  )
}

function OnBank ({ bank }: { bank: string }) {
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
