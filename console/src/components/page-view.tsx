import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { HOME_PAGE } from '../page-groups.js'
import { PAGES, type PageEntry } from '../pages.js'
import { checkConnection, reconnections } from '../state/connection.js'
import { loadPage } from '../state/load-page.js'
import { hrefOf } from '../state/router.js'
import { ErrorBoundary } from './error-boundary.js'
import { PageTitle } from './page-title.js'
import { EmptyState, Failure, Loading } from './states.js'

const loadedPages = new Map<string, ComponentType>()

/** The page with an id, under its title. A hidden one keeps its state. */
export function PageView ({ id, isHidden = false }: { id: string, isHidden?: boolean }) {
  const entry = PAGES.find((page) => page.id === (id === '' ? HOME_PAGE : id))
  if (entry === undefined && isHidden) return null
  if (entry === undefined) {
    return (
      <>
        <PageTitle title='No such page' />
        <EmptyState title='The console has no page at this address.'>
          <p><a href={hrefOf(HOME_PAGE)}>Go to your memories</a></p>
        </EmptyState>
      </>
    )
  }
  return (
    <>
      {!isHidden && <PageTitle key={entry.id} title={entry.title} about={entry.about} />}
      <div key={`${entry.id} content`} hidden={isHidden}>
        <ErrorBoundary><LazyPage key={entry.id} entry={entry} /></ErrorBoundary>
      </div>
    </>
  )
}

function LazyPage ({ entry }: { entry: PageEntry }) {
  const [Page, setPage] = useState<ComponentType | undefined>(() => loadedPages.get(entry.id))
  const [error, setError] = useState<unknown>(undefined)
  const [attempts, setAttempts] = useState(0)
  const reconnectionCount = reconnections.value
  useEffect(() => {
    if (Page !== undefined) return
    setError(undefined)
    loadPage(entry.load).then(({ default: component }) => {
      loadedPages.set(entry.id, component)
      setPage(() => component)
    }, (reason: unknown) => {
      setError(new Error(`The page could not be loaded: ${reason instanceof Error ? reason.message : String(reason)}`))
      // The browser loads modules itself. When that is the first request to fail, nothing else notices the outage.
      void checkConnection()
    })
  }, [attempts, reconnectionCount])
  if (error !== undefined) {
    return (
      <>
        <Failure error={error} retry={() => { setAttempts(attempts + 1) }} />
        <p>
          If the server was updated, the console must be reloaded:{' '}
          <button type='button' class='small' onClick={() => { location.reload() }}>Reload the console</button>
        </p>
      </>
    )
  }
  return Page === undefined ? <Loading /> : <Page />
}
