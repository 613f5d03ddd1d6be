import { Empty, Failure, Loading } from '../../components/states.js'
import { firstPage } from '../../state/first-page.js'
import { admin } from '../../state/session.js'
import { usePages } from '../../state/use-pages.js'
import { identityOf, subjectsOf, type Subjects } from './identity.js'
import { Matrix, type MatrixRow } from './matrix.js'
import { SubjectForm } from './subject-form.js'

const PAGE = 100

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

function Banks ({ subjects: { principals, tenant, onBehalfOf } }: { subjects: Subjects }) {
  const { items, error, isLoading, hasMore, more, reload } = usePages(async (cursor, signal) => {
    const pages = await Promise.all(principals.map(async (principal) => {
      const identity = identityOf(principal, tenant, onBehalfOf)
      const query = { ...identity, limit: PAGE, ...(cursor !== undefined && { cursor }) }
      return await firstPage(admin.value.getAccess(query, { signal }))
    }))
    // The banks are the same for everybody: a cursor is a place among the banks of the tenant.
    return { items: rowsOf(pages), cursor: pages[0]?.next_cursor ?? null }
  }, [principals.join('\n'), tenant, onBehalfOf])
  return (
    <>
      {items.length === 0 && !isLoading && error === undefined && (
        <Empty title='The tenant has no bank.'>
          <p>A bank comes to life with its first memory. The box below also decides on banks that do not exist yet.</p>
        </Empty>
      )}
      {items.length > 0 && <Matrix caption='What the principals may do' rows={items} hasMore={hasMore} />}
      {error !== undefined && <Failure error={error} retry={items.length === 0 ? reload : more} />}
      {isLoading && <Loading />}
      {hasMore && !isLoading && <div class='actions'><button type='button' onClick={more}>Load more</button></div>}
    </>
  )
}

interface Page {
  principal: string | null
  banks: ReadonlyArray<Omit<MatrixRow, 'principal'>>
}

/** Bank by bank, the principals of each below each other. */
function rowsOf (pages: readonly Page[]): MatrixRow[] {
  const ids = new Set(pages.flatMap(({ banks }) => banks.map(({ bank_id: id }) => id)))
  return [...ids].flatMap((id) => pages.flatMap(({ principal, banks }) => (
    banks.filter(({ bank_id: found }) => found === id).map((bank) => ({ ...bank, principal }))
  )))
}
