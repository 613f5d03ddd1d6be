import { useEffect, useRef } from 'preact/hooks'
import { isAway } from './connection.js'

/**
 * Loads something again and again while the page is in sight and the server is there. An answer that takes longer than
 * that is waited for: asking anew would end it, and nothing would ever be shown.
 */
export function usePoll (loaded: { isLoading: boolean, reload: () => void }, milliseconds: number): void {
  const latest = useRef(loaded)
  latest.current = loaded
  useEffect(() => {
    const timer = setInterval(() => {
      const { isLoading, reload } = latest.current
      if (document.visibilityState === 'visible' && !isAway.value && !isLoading) reload()
    }, milliseconds)
    return () => { clearInterval(timer) }
  }, [milliseconds])
}
