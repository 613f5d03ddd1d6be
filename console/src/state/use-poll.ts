import { useEffect, useRef } from 'preact/hooks'
import { isUnreachable } from './connection.js'

/**
 * Loads something periodically while the page is visible and the server is reachable. An answer that takes longer than
 * the period is awaited: a new request would abort it, and nothing would ever be shown.
 */
export function usePoll (loaded: { isLoading: boolean, reload: () => void }, milliseconds: number): void {
  const latestLoaded = useRef(loaded)
  latestLoaded.current = loaded
  useEffect(() => {
    const timer = setInterval(() => {
      const { isLoading, reload } = latestLoaded.current
      if (document.visibilityState === 'visible' && !isUnreachable.value && !isLoading) reload()
    }, milliseconds)
    return () => { clearInterval(timer) }
  }, [milliseconds])
}
