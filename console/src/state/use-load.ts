import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { recoveries } from './connection.js'
import { credentials } from './session.js'

export interface Loaded<T> {
  /** The latest data; they stay while they are loaded again, and beside a failure with the same keys. */
  data: T | undefined
  error: unknown
  isLoading: boolean
  reload: () => void
}

interface State<T> extends Omit<Loaded<T>, 'reload'> {
  /** The keys to which the data and the error belong. */
  keys: readonly unknown[]
}

function isSame (some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((key, index) => key === others[index])
}

/**
 * Loads what a component shows, again whenever one of `keys` changes, and after a failure when the server is reachable
 * again. Late answers are dropped.
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
