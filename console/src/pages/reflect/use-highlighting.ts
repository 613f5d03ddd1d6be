import { useMemo, useRef, useState } from 'preact/hooks'

/** Highlights a source together with the citations of it. */
export interface Highlighting {
  isHighlighted: (source: number) => boolean
  /** The event handlers of a citation or a source: the pointer and the focus highlight it. */
  handlersOf: (source: number) => {
    onPointerEnter: () => void
    onPointerLeave: () => void
    onFocus: () => void
    onBlur: () => void
  }
  /** Moves the focus from a citation to its source. */
  focusSource: (source: number) => void
  /** Moves the focus from a source to its first citation. */
  focusCitation: (source: number) => void
}

/** The highlighting of one answer. @returns it, with a ref for the element that contains the citations and sources */
export function useHighlighting () {
  const container = useRef<HTMLDivElement>(null)
  const [hoveredSource, setHoveredSource] = useState<number | undefined>(undefined)
  const [focusedSource, setFocusedSource] = useState<number | undefined>(undefined)
  const highlighting = useMemo<Highlighting>(() => {
    const focus = (selector: string) => {
      const element = container.current?.querySelector<HTMLElement>(selector)
      element?.focus()
      element?.scrollIntoView({ block: 'nearest' })
    }
    return {
      isHighlighted: (source) => source === hoveredSource || source === focusedSource,
      handlersOf: (source) => ({
        onPointerEnter: () => { setHoveredSource(source) },
        onPointerLeave: () => { setHoveredSource(undefined) },
        onFocus: () => { setFocusedSource(source) },
        onBlur: () => { setFocusedSource(undefined) },
      }),
      focusSource: (source) => { focus(`[data-source="${source}"]`) },
      focusCitation: (source) => { focus(`[data-citation="${source}"]`) },
    }
  }, [hoveredSource, focusedSource])
  return { container, highlighting }
}
