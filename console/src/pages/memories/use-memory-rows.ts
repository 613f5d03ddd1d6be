import type { ListMemoriesRequest } from 'memory-gateway-client'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { reconnections } from '../../state/connection.js'
import { firstPage } from '../../state/first-page.js'
import { client, credentials } from '../../state/session.js'
import { previewOf, type Preview } from './previews.js'
import { RowLoader } from './row-loader.js'

export interface MemoryRows {
  /** Undefined until the first page has been loaded. */
  count: number | undefined
  /** Whether `count` includes all memories. */
  isComplete: boolean
  /** Undefined: not loaded yet; null: no longer there. */
  at: (index: number) => Preview | null | undefined
  requestRow: (index: number) => void
  error: unknown
  isLoading: boolean
  retry: () => void
  reload: () => void
}

const PAGE_SIZE = 100
/** The highest offset that the server accepts. */
const MAX_ROWS = 100_000

interface State { count: number | undefined, isComplete: boolean, error: unknown, isLoading: boolean, version: number }

const INITIAL_STATE: State = { count: undefined, isComplete: true, error: undefined, isLoading: true, version: 0 }

/** The memories of a bank that pass filters, for a list that can jump to any position. Undefined: none are listed. */
export function useMemoryRows (request: ListMemoriesRequest | undefined): MemoryRows {
  const [state, setState] = useState(INITIAL_STATE)
  const [reloads, setReloads] = useState(0)
  const loader = useRef<RowLoader<Preview> | undefined>(undefined)
  const reconnectionCount = reconnections.value
  const key = JSON.stringify(request)
  const reload = useCallback(() => { setReloads((count) => count + 1) }, [])

  useEffect(() => {
    if (credentials.value === undefined) return
    setState(INITIAL_STATE)
    if (request === undefined) return
    const controller = new AbortController()
    const loadPage = async (query: ListMemoriesRequest, signal: AbortSignal) => (
      await firstPage(client.value.listMemories({ ...query, limit: PAGE_SIZE }, { signal }))
    )
    const rows = new RowLoader<Preview>(PAGE_SIZE, async (page, signal) => {
      const { memories } = await loadPage({ ...request, offset: page * PAGE_SIZE }, signal)
      return memories.map(previewOf)
    }, (error) => { setState((old) => ({ ...old, error, version: old.version + 1 })) })
    loader.current = rows
    loadPage({ ...request, total: true }, controller.signal).then(({ memories, total }) => {
      if (controller.signal.aborted) return
      rows.put(0, memories.map(previewOf))
      const count = Math.min(MAX_ROWS, total?.count ?? memories.length)
      setState({ ...INITIAL_STATE, count, isComplete: total?.complete ?? true, isLoading: false })
    }, (error: unknown) => {
      if (!controller.signal.aborted) setState({ ...INITIAL_STATE, error, isLoading: false })
    })
    return () => {
      controller.abort()
      rows.close()
    }
  }, [key, reloads, credentials.value])

  const retry = useCallback(() => {
    if (state.count === undefined) reload()
    else loader.current?.retry()
  }, [state.count])
  const lastReconnection = useRef(reconnectionCount)
  useEffect(() => {
    if (lastReconnection.current === reconnectionCount) return
    lastReconnection.current = reconnectionCount
    if (state.error !== undefined) retry()
  }, [reconnectionCount, state.error])

  const at = useCallback((index: number) => loader.current?.at(index), [])
  const requestRow = useCallback((index: number) => { loader.current?.requestRow(index) }, [])
  return { ...state, at, requestRow, retry, reload }
}
