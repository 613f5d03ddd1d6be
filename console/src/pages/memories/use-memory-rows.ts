import type { ListMemoriesRequest } from 'memory-gateway-client'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { recoveries } from '../../state/connection.js'
import { firstPage } from '../../state/first-page.js'
import { client, credentials } from '../../state/session.js'
import { previewOf, type Preview } from './previews.js'
import { RowLoader } from './row-loader.js'

export interface MemoryRows {
  /** Undefined until the first page has been loaded. */
  count: number | undefined
  /** Whether there are no more than `count`. */
  isComplete: boolean
  /** Undefined: not loaded yet; null: no longer there. */
  at: (index: number) => Preview | null | undefined
  want: (index: number) => void
  error: unknown
  isLoading: boolean
  retry: () => void
  reload: () => void
}

const PAGE = 100
/** The highest offset that the server accepts. */
const MOST_ROWS = 100_000

interface State { count: number | undefined, isComplete: boolean, error: unknown, isLoading: boolean, version: number }

const BEGUN: State = { count: undefined, isComplete: true, error: undefined, isLoading: true, version: 0 }

/** The memories of a bank under filters, for a list that can jump to any place. Undefined: nothing is listed. */
export function useMemoryRows (request: ListMemoriesRequest | undefined): MemoryRows {
  const [state, setState] = useState(BEGUN)
  const [round, setRound] = useState(0)
  const loader = useRef<RowLoader<Preview> | undefined>(undefined)
  const recovered = recoveries.value
  const key = JSON.stringify(request)
  const reload = useCallback(() => { setRound((count) => count + 1) }, [])

  useEffect(() => {
    if (credentials.value === undefined) return
    setState(BEGUN)
    if (request === undefined) return
    const controller = new AbortController()
    const pageAt = async (query: ListMemoriesRequest, signal: AbortSignal) => (
      await firstPage(client.value.listMemories({ ...query, limit: PAGE }, { signal }))
    )
    const rows = new RowLoader<Preview>(PAGE, async (page, signal) => {
      const { memories } = await pageAt({ ...request, offset: page * PAGE }, signal)
      return memories.map(previewOf)
    }, (error) => { setState((old) => ({ ...old, error, version: old.version + 1 })) })
    loader.current = rows
    pageAt({ ...request, total: true }, controller.signal).then(({ memories, total }) => {
      if (controller.signal.aborted) return
      rows.put(0, memories.map(previewOf))
      const count = Math.min(MOST_ROWS, total?.count ?? memories.length)
      setState({ ...BEGUN, count, isComplete: total?.complete ?? true, isLoading: false })
    }, (error: unknown) => {
      if (!controller.signal.aborted) setState({ ...BEGUN, error, isLoading: false })
    })
    return () => {
      controller.abort()
      rows.close()
    }
  }, [key, round, credentials.value])

  const retry = useCallback(() => {
    if (state.count === undefined) reload()
    else loader.current?.retry()
  }, [state.count])
  const lastRecovery = useRef(recovered)
  useEffect(() => {
    if (lastRecovery.current === recovered) return
    lastRecovery.current = recovered
    if (state.error !== undefined) retry()
  }, [recovered, state.error])

  const at = useCallback((index: number) => loader.current?.at(index), [])
  const want = useCallback((index: number) => { loader.current?.want(index) }, [])
  return { ...state, at, want, retry, reload }
}
