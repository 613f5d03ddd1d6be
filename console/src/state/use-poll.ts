import { useEffect, useRef } from 'preact/hooks'
import { isAway } from './connection.js'

/** Does something again and again while the page is in sight and the server is there. */
export function usePoll (act: () => void, milliseconds: number): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && !isAway.value) latest.current()
    }, milliseconds)
    return () => { clearInterval(timer) }
  }, [milliseconds])
}
