import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { recoveries } from './connection.js'
import { credentials } from './session.js'

export interface Loaded<T> {
  /** The last that came; it stays while it is loaded again, and beside a failure when that was of the same keys. */
  data: T | undefined
  error: unknown
  isLoading: boolean
  reload: () => void
}

interface State<T> extends Omit<Loaded<T>, 'reload'> {
  /** Those that the data and the error are of. */
  keys: readonly unknown[]
}

function isSame (some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((key, index) => key === others[index])
}

/**
 * Loads what a component shows, anew whenever one of `keys` changes, and again after a failure when the server has come
 * back. What comes too late is dropped.
 */
export function useLoad<T> (load: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<State<T>>({ data: undefined, error: undefined, isLoading: true, keys })
  const [round, setRound] = useState(0)
  const recovered = recoveries.value
  const lastRecovery = useRef(recovered)
  const latest = useRef(load)
  latest.current = load
  const reload = useCallback(() => { setRound((count) => count + 1) }, [])

  useEffect(() => {
    if (credentials.value === undefined) return
    const controller = new AbortController()
    setState((old) => ({ ...old, isLoading: true, ...(!isSame(old.keys, keys) && { error: undefined }) }))
    latest.current(controller.signal).then((data) => {
      if (!controller.signal.aborted) setState({ data, error: undefined, isLoading: false, keys })
    }, (error: unknown) => {
      if (controller.signal.aborted) return
      setState((old) => ({ data: isSame(old.keys, keys) ? old.data : undefined, error, isLoading: false, keys }))
    })
    return () => { controller.abort() }
  }, [...keys, round, credentials.value])

  useEffect(() => {
    if (lastRecovery.current === recovered) return
    lastRecovery.current = recovered
    if (state.error !== undefined) reload()
  }, [recovered, state.error, reload])

  const { data, error, isLoading } = state
  return { data, error, isLoading, reload }
}
