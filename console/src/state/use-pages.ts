import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { reconnections } from './connection.js'
import { credentials } from './session.js'

export interface Paged<Item> {
  items: readonly Item[]
  error: unknown
  isLoading: boolean
  hasMore: boolean
  /** Loads the next page; does nothing while one is loading or when there is none. */
  loadMore: () => void
  reload: () => void
}

export interface PageOf<Item> { items: readonly Item[], cursor: string | null }

interface Progress<Item> {
  items: Item[]
  cursor: string | null | undefined
  controller: AbortController
  isBusy: boolean
}

function initialProgress<Item> (): Progress<Item> {
  return { items: [], cursor: undefined, controller: new AbortController(), isBusy: false }
}

/**
 * A listing by cursor: each page is appended to the earlier ones. It restarts whenever one of `keys` changes.
 * @param load returns the page after a cursor; undefined means the first page
 */
export function usePages<Item> (
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<PageOf<Item>>, keys: readonly unknown[],
): Paged<Item> {
  const progress = useRef(initialProgress<Item>())
  const [state, setState] = useState<Omit<Paged<Item>, 'loadMore' | 'reload'>>(
    { items: [], error: undefined, isLoading: true, hasMore: false })
  const [reloads, setReloads] = useState(0)
  const reconnectionCount = reconnections.value
  const latestLoad = useRef(load)
  const lastReloads = useRef(reloads)
  latestLoad.current = load

  const loadMore = useCallback(() => {
    const current = progress.current
    if (current.isBusy || current.cursor === null) return
    current.isBusy = true
    setState((old) => ({ ...old, isLoading: true, error: undefined }))
    latestLoad.current(current.cursor, current.controller.signal).then(({ items, cursor }) => {
      if (current !== progress.current) return
      // One growing list, because copying 100,000 items for each page would be noticeable.
      current.items.push(...items)
      current.cursor = cursor
      current.isBusy = false
      setState({ items: current.items, error: undefined, isLoading: false, hasMore: cursor !== null })
    }, (error: unknown) => {
      if (current !== progress.current) return
      current.isBusy = false
      setState((old) => ({ ...old, error, isLoading: false }))
    })
  }, [])

  useEffect(() => {
    if (credentials.value === undefined) return
    const current = initialProgress<Item>()
    progress.current = current
    // During a reload the earlier items stay, and with them the button that has the focus.
    const isReload = lastReloads.current !== reloads
    lastReloads.current = reloads
    setState(({ items }) => ({ items: isReload ? items : [], error: undefined, isLoading: true, hasMore: false }))
    loadMore()
    return () => { current.controller.abort() }
  }, [...keys, reloads, credentials.value])

  useEffect(() => { if (state.error !== undefined) loadMore() }, [reconnectionCount])

  return { ...state, loadMore, reload: useCallback(() => { setReloads((count) => count + 1) }, []) }
}
