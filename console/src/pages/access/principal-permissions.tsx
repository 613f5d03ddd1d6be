import type { AccessPage } from 'memory-gateway-client'
import { EmptyState, ListingEnd } from '../../components/states.js'
import { firstPage } from '../../state/first-page.js'
import { admin } from '../../state/session.js'
import { usePages } from '../../state/use-pages.js'
import { formatCount } from '../../text/format.js'
import { PermissionGrid } from './permission-grid.js'
import { identityOf, MAX_DETAILED_PRINCIPALS, MAX_PRINCIPALS, subjectsOf, type Subjects } from './identity.js'
import { PermissionMatrix, type MatrixRow } from './permission-matrix.js'
import { SubjectForm } from './subject-form.js'

const PAGE_SIZE = 100
const MAX_CONCURRENT = 6

/** For operators: what any principals may do on the banks of a tenant. */
export function PrincipalPermissions () {
  const subjects = subjectsOf()
  return (
    <section class='card' aria-labelledby='access-anyone'>
      <h2 id='access-anyone'>Permissions of principals</h2>
      <SubjectForm key={JSON.stringify(subjects)} subjects={subjects} />
      {subjects.principals.length === 0
        ? <EmptyState title='Enter a principal, or several to compare them.' />
        : <BankPermissions subjects={subjects} />}
    </section>
  )
}

function BankPermissions ({ subjects: { principals, tenant, onBehalfOf, omitted } }: { subjects: Subjects }) {
  const { items, error, isLoading, hasMore, loadMore, reload } = usePages(async (cursor, signal) => {
    const pageOf = async (principal: string) => {
      const identity = identityOf(principal, tenant, onBehalfOf)
      const query = { ...identity, limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) }
      return await firstPage(admin.value.getAccess(query, { signal }))
    }
    const pages: AccessPage[] = []
    for (let start = 0; start < principals.length; start += MAX_CONCURRENT) {
      pages.push(...await Promise.all(principals.slice(start, start + MAX_CONCURRENT).map(pageOf)))
    }
    // All principals have the same list of banks: a cursor is a position among the banks of the tenant.
    return { items: rowsOf(pages), cursor: pages[0]?.next_cursor ?? null }
  }, [principals.join('\n'), tenant, onBehalfOf])
  return (
    <>
      {omitted > 0 && (
        <p class='notice'>
          The URL names {formatCount(omitted, 'more principal')} than the {MAX_PRINCIPALS} that are shown at a time.
        </p>
      )}
      {items.length === 0 && !isLoading && error === undefined && (
        <EmptyState title='The tenant has no bank.'>
          <p>A bank is created with its first memory. The check below also works for banks that do not exist yet.</p>
        </EmptyState>
      )}
      {items.length > 0 && (principals.length > MAX_DETAILED_PRINCIPALS
        ? <PermissionGrid rows={items} hasMore={hasMore} params={{ tenant, on_behalf_of: onBehalfOf }} />
        : <PermissionMatrix caption='What the principals may do' rows={items} hasMore={hasMore} />)}
      <ListingEnd
        error={error} isLoading={isLoading} hasMore={hasMore} loadMore={loadMore}
        retry={items.length === 0 ? reload : loadMore}
      />
    </>
  )
}

/** Rows by bank, with one row for each principal. */
function rowsOf (pages: readonly AccessPage[]): MatrixRow[] {
  const byBank = new Map<string, MatrixRow[]>()
  for (const { principal, banks } of pages) {
    for (const bank of banks) {
      const rows = byBank.get(bank.bank_id) ?? []
      rows.push({ ...bank, principal })
      byBank.set(bank.bank_id, rows)
    }
  }
  return [...byBank.values()].flat()
}
