import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { recoveries } from './connection.js'
import { credentials } from './session.js'

export interface Loaded<T> {
  /** The last that came; it stays while it is loaded again. */
  data: T | undefined
  error: unknown
  isLoading: boolean
  reload: () => void
}

/**
 * Loads what a component shows, anew whenever one of `keys` changes, and again after a failure when the server has come
 * back. What comes too late is dropped.
 */
export function useLoad<T> (load: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({ data: undefined, error: undefined, isLoading: true })
  const [round, setRound] = useState(0)
  const recovered = recoveries.value
  const lastRecovery = useRef(recovered)
  const latest = useRef(load)
  latest.current = load
  const reload = useCallback(() => { setRound((count) => count + 1) }, [])

  useEffect(() => {
    const controller = new AbortController()
    setState((old) => ({ ...old, isLoading: true }))
    latest.current(controller.signal).then((data) => {
      if (!controller.signal.aborted) setState({ data, error: undefined, isLoading: false })
    }, (error: unknown) => {
      if (!controller.signal.aborted) setState((old) => ({ data: old.data, error, isLoading: false }))
    })
    return () => { controller.abort() }
  }, [...keys, round, credentials.value])

  useEffect(() => {
    if (lastRecovery.current === recovered) return
    lastRecovery.current = recovered
    if (state.error !== undefined) reload()
  }, [recovered, state.error, reload])

  return { ...state, reload }
}
