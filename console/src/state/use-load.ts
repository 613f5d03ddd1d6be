import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { reconnections } from './connection.js'
import { credentials } from './session.js'

export interface Loaded<T> {
  /** The latest data. They stay while they are reloaded, and next to an error with the same keys. */
  data: T | undefined
  error: unknown
  isLoading: boolean
  reload: () => void
}

interface State<T> extends Omit<Loaded<T>, 'reload'> {
  /** The keys to which the data and the error belong. */
  keys: readonly unknown[]
}

function areEqual (left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((key, index) => key === right[index])
}

/**
 * Loads the data of a component, again whenever one of `keys` changes, and after a failure as soon as the server is
 * reachable again. Late answers are ignored.
 */
export function useLoad<T> (load: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<State<T>>({ data: undefined, error: undefined, isLoading: true, keys })
  const [reloads, setReloads] = useState(0)
  const reconnectionCount = reconnections.value
  const lastReconnection = useRef(reconnectionCount)
  const latestLoad = useRef(load)
  latestLoad.current = load
  const reload = useCallback(() => { setReloads((count) => count + 1) }, [])

  useEffect(() => {
    if (credentials.value === undefined) return
    const controller = new AbortController()
    setState((old) => ({ ...old, isLoading: true, ...(!areEqual(old.keys, keys) && { error: undefined }) }))
    latestLoad.current(controller.signal).then((data) => {
      if (!controller.signal.aborted) setState({ data, error: undefined, isLoading: false, keys })
    }, (error: unknown) => {
      if (controller.signal.aborted) return
      setState((old) => ({ data: areEqual(old.keys, keys) ? old.data : undefined, error, isLoading: false, keys }))
    })
    return () => { controller.abort() }
  }, [...keys, reloads, credentials.value])

  useEffect(() => {
    if (lastReconnection.current === reconnectionCount) return
    lastReconnection.current = reconnectionCount
    if (state.error !== undefined) reload()
  }, [reconnectionCount, state.error, reload])

  const { data, error, isLoading } = state
  return { data, error, isLoading, reload }
}
