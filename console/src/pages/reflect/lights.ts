import { useMemo, useRef, useState } from 'preact/hooks'

/** The highlighted source, and with it the marks that cite it. */
export interface Lights {
  isLit: (source: number) => boolean
  /** For marks and sources alike: the pointer and the focus highlight them. */
  handlersOf: (source: number) => {
    onPointerEnter: () => void
    onPointerLeave: () => void
    onFocus: () => void
    onBlur: () => void
  }
  /** From a mark to what it cites. */
  goToSource: (source: number) => void
  /** From a source to the first mark that cites it. */
  goToMark: (source: number) => void
}

/** The highlighting of one answer. @returns it with the element that contains the marks and sources */
export function useLights () {
  const box = useRef<HTMLDivElement>(null)
  const [pointed, setPointed] = useState<number | undefined>(undefined)
  const [focused, setFocused] = useState<number | undefined>(undefined)
  const lights = useMemo<Lights>(() => {
    const focus = (selector: string) => {
      const element = box.current?.querySelector<HTMLElement>(selector)
      element?.focus()
      element?.scrollIntoView({ block: 'nearest' })
    }
    return {
      isLit: (source) => source === pointed || source === focused,
      handlersOf: (source) => ({
        onPointerEnter: () => { setPointed(source) },
        onPointerLeave: () => { setPointed(undefined) },
        onFocus: () => { setFocused(source) },
        onBlur: () => { setFocused(undefined) },
      }),
      goToSource: (source) => { focus(`[data-source="${source}"]`) },
      goToMark: (source) => { focus(`[data-mark="${source}"]`) },
    }
  }, [pointed, focused])
  return { box, lights }
}
