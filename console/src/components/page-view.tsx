import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { FIRST_PAGE, PAGES, type PageEntry } from '../pages.js'
import { recoveries } from '../state/connection.js'
import { hrefOf } from '../state/router.js'
import { ErrorBoundary } from './error-boundary.js'
import { PageTitle } from './page-title.js'
import { Empty, Failure, Loading } from './states.js'

const loaded = new Map<string, ComponentType>()

/** The page with an id, under its title. A hidden one keeps its state. */
export function PageView ({ id, isHidden = false }: { id: string, isHidden?: boolean }) {
  const entry = PAGES.find((page) => page.id === (id === '' ? FIRST_PAGE : id))
  if (entry === undefined && isHidden) return null
  if (entry === undefined) {
    return (
      <>
        <PageTitle title='No such page' />
        <Empty title='The address names no page of the console.'>
          <p><a href={hrefOf(FIRST_PAGE)}>Go to the overview</a></p>
        </Empty>
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
  const [Page, setPage] = useState<ComponentType | undefined>(() => loaded.get(entry.id))
  const [error, setError] = useState<unknown>(undefined)
  const [round, setRound] = useState(0)
  const recovered = recoveries.value
  useEffect(() => {
    if (Page !== undefined) return
    setError(undefined)
    entry.load().then(({ default: component }) => {
      loaded.set(entry.id, component)
      setPage(() => component)
    }, setError)
  }, [round, recovered])
  if (error !== undefined) {
    return (
      <>
        <Failure error={error} retry={() => { setRound(round + 1) }} />
        <p>
          If the server was updated, the console must be loaded anew:{' '}
          <button type='button' class='small' onClick={() => { location.reload() }}>Load the console anew</button>
        </p>
      </>
    )
  }
  return Page === undefined ? <Loading /> : <Page />
}
