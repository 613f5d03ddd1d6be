import type { AccessPage } from 'memory-gateway-client'
import { Empty, Failure, Loading } from '../../components/states.js'
import { firstPage } from '../../state/first-page.js'
import { admin } from '../../state/session.js'
import { usePages } from '../../state/use-pages.js'
import { formatCount } from '../../text/format.js'
import { Grid } from './grid.js'
import { identityOf, MOST_DETAILED, MOST_PRINCIPALS, subjectsOf, type Subjects } from './identity.js'
import { Matrix, type MatrixRow } from './matrix.js'
import { SubjectForm } from './subject-form.js'

const PAGE = 100
const AT_ONCE = 6

/** For operators: what anyone may do on the banks of a tenant. */
export function Anyone () {
  const subjects = subjectsOf()
  return (
    <section class='card' aria-labelledby='access-anyone'>
      <h2 id='access-anyone'>Principals on every bank</h2>
      <SubjectForm key={JSON.stringify(subjects)} subjects={subjects} />
      {subjects.principals.length === 0
        ? <Empty title='Name a principal, or several to compare them.' />
        : <Banks subjects={subjects} />}
    </section>
  )
}

function Banks ({ subjects: { principals, tenant, onBehalfOf, left } }: { subjects: Subjects }) {
  const { items, error, isLoading, hasMore, more, reload } = usePages(async (cursor, signal) => {
    const pageOf = async (principal: string) => {
      const identity = identityOf(principal, tenant, onBehalfOf)
      const query = { ...identity, limit: PAGE, ...(cursor !== undefined && { cursor }) }
      return await firstPage(admin.value.getAccess(query, { signal }))
    }
    const pages: AccessPage[] = []
    for (let start = 0; start < principals.length; start += AT_ONCE) {
      pages.push(...await Promise.all(principals.slice(start, start + AT_ONCE).map(pageOf)))
    }
    // All principals have the same list of banks: a cursor is a place among the banks of the tenant.
    return { items: rowsOf(pages), cursor: pages[0]?.next_cursor ?? null }
  }, [principals.join('\n'), tenant, onBehalfOf])
  return (
    <>
      {left > 0 && (
        <p class='notice'>
          The address names {formatCount(left, 'more principal')} than the {MOST_PRINCIPALS} that are shown at a time.
        </p>
      )}
      {items.length === 0 && !isLoading && error === undefined && (
        <Empty title='The tenant has no bank.'>
          <p>A bank comes to life with its first memory. The box below also decides on banks that do not exist yet.</p>
        </Empty>
      )}
      {items.length > 0 && (principals.length > MOST_DETAILED
        ? <Grid rows={items} hasMore={hasMore} params={{ tenant, on_behalf_of: onBehalfOf }} />
        : <Matrix caption='What the principals may do' rows={items} hasMore={hasMore} />)}
      {error !== undefined && <Failure error={error} retry={items.length === 0 ? reload : more} />}
      {isLoading && <Loading />}
      {hasMore && <div class='actions'><button type='button' aria-disabled={isLoading} onClick={more}>Load more</button></div>}
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
