import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { recoveries } from './connection.js'
import { credentials } from './session.js'

export interface Paged<Item> {
  items: readonly Item[]
  error: unknown
  isLoading: boolean
  hasMore: boolean
  /** Loads the next page; does nothing while one is loading or when there is none. */
  more: () => void
  reload: () => void
}

export interface PageOf<Item> { items: readonly Item[], cursor: string | null }

interface Progress<Item> {
  items: Item[]
  cursor: string | null | undefined
  controller: AbortController
  isBusy: boolean
}

function begun<Item> (): Progress<Item> {
  return { items: [], cursor: undefined, controller: new AbortController(), isBusy: false }
}

/**
 * A listing by cursor: each page is appended to those before it. It starts over whenever one of `keys` changes.
 * @param load returns the page after a cursor; undefined means the first page
 */
export function usePages<Item> (
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<PageOf<Item>>, keys: readonly unknown[],
): Paged<Item> {
  const progress = useRef(begun<Item>())
  const [state, setState] = useState<Omit<Paged<Item>, 'more' | 'reload'>>(
    { items: [], error: undefined, isLoading: true, hasMore: false })
  const [round, setRound] = useState(0)
  const recovered = recoveries.value
  const latest = useRef(load)
  const lastRound = useRef(round)
  latest.current = load

  const more = useCallback(() => {
    const mine = progress.current
    if (mine.isBusy || mine.cursor === null) return
    mine.isBusy = true
    setState((old) => ({ ...old, isLoading: true, error: undefined }))
    latest.current(mine.cursor, mine.controller.signal).then(({ items, cursor }) => {
      if (mine !== progress.current) return
      // One growing list, because copying 100,000 items for each page would be noticeable.
      mine.items.push(...items)
      mine.cursor = cursor
      mine.isBusy = false
      setState({ items: mine.items, error: undefined, isLoading: false, hasMore: cursor !== null })
    }, (error: unknown) => {
      if (mine !== progress.current) return
      mine.isBusy = false
      setState((old) => ({ ...old, error, isLoading: false }))
    })
  }, [])

  useEffect(() => {
    if (credentials.value === undefined) return
    const mine = begun<Item>()
    progress.current = mine
    // During a reload the earlier items stay, and with them the button that has the focus.
    const isAnew = lastRound.current !== round
    lastRound.current = round
    setState(({ items }) => ({ items: isAnew ? items : [], error: undefined, isLoading: true, hasMore: false }))
    more()
    return () => { mine.controller.abort() }
  }, [...keys, round, credentials.value])

  useEffect(() => { if (state.error !== undefined) more() }, [recovered])

  return { ...state, more, reload: useCallback(() => { setRound((count) => count + 1) }, []) }
}
