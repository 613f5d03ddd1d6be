import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { RowHeights } from './row-heights.js'

interface Props {
  label: string
  count: number
  row: (index: number) => ComponentChildren
  /** Called for a click on a row, or Enter. */
  onChoose?: (index: number) => void
  /** The row that is open beside the list. */
  selected?: number
}

/** Rows that are rendered beyond both ends of the visible part. */
const OVERSCAN_ROWS = 8
/** Height of a row before it is rendered, in units of the page's font size: one line of text and one of facts. */
const ESTIMATE_REM = 4.25

function estimatedHeight (): number {
  return Math.round(ESTIMATE_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize))
}

/**
 * A long list of rows, each as high as its content, of which only those in view are rendered. One row is active; the
 * arrow keys, Page Up and Page Down, Home and End move it, Enter chooses it.
 */
export function VirtualList ({ label, count, row, onChoose, selected }: Props) {
  const container = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  // Another width breaks the lines elsewhere.
  const heights = useMemo(() => new RowHeights(count, estimatedHeight()), [count, width])
  const [range, setRange] = useState<[start: number, end: number]>([0, Math.min(count, OVERSCAN_ROWS)])
  const [active, setActive] = useState(0)
  /** A row that has to come into view; its place is exact only once it is rendered. */
  const revealed = useRef<number | undefined>(undefined)
  const [start, end] = range

  const updateRange = () => {
    const { current } = container
    if (current === null) return
    const first = heights.indexAt(current.scrollTop)
    const last = heights.indexAt(current.scrollTop + current.clientHeight)
    // In steps, so that most scroll events change nothing.
    const from = Math.max(0, Math.floor((first - OVERSCAN_ROWS) / OVERSCAN_ROWS) * OVERSCAN_ROWS)
    const to = Math.min(count, Math.ceil((last + 1 + OVERSCAN_ROWS) / OVERSCAN_ROWS) * OVERSCAN_ROWS)
    setRange((old) => old[0] === from && old[1] === to ? old : [from, to])
  }
  const reveal = (index: number) => {
    const { current } = container
    if (current === null) return
    const top = heights.offsetOf(index)
    const bottom = top + heights.heightOf(index) - current.clientHeight
    if (top < current.scrollTop) current.scrollTop = top
    else if (bottom > current.scrollTop) current.scrollTop = Math.min(top, bottom)
  }
  // After every rendering, because rows become higher when their memories arrive.
  useLayoutEffect(() => {
    const [{ current }, { current: rows }] = [container, content]
    if (current === null || rows === null) return
    const first = heights.indexAt(current.scrollTop)
    let above = 0
    let isChanged = false
    for (const [offset, element] of [...rows.children].entries()) {
      const change = heights.set(start + offset, element.getBoundingClientRect().height)
      if (change !== 0) isChanged = true
      if (start + offset < first) above += change
    }
    if (isChanged) {
      if (rows.parentElement !== null) rows.parentElement.style.height = `${heights.total}px`
      // What is in view stays where it is.
      if (above !== 0) current.scrollTop += above
    }
    const index = revealed.current
    if (index !== undefined) {
      reveal(index)
      if (index >= start && index < end) revealed.current = undefined
    }
    updateRange()
  })
  useEffect(() => {
    const { current } = container
    if (current === null) return
    const observer = new ResizeObserver(() => {
      setWidth(current.clientWidth)
      updateRange()
    })
    observer.observe(current)
    return () => { observer.disconnect() }
  }, [heights])

  const move = (to: number) => {
    if (count === 0) return
    const index = Math.max(0, Math.min(count - 1, to))
    setActive(index)
    revealed.current = index
    reveal(index)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const page = container.current?.clientHeight ?? 0
    const at = heights.offsetOf(active)
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: Math.max(active + 1, heights.indexAt(at + page) - 1),
      PageUp: Math.min(active - 1, heights.indexAt(at - page) + 1),
      Home: 0,
      End: count - 1,
    }
    const to = moves[event.key]
    if (to !== undefined) move(to)
    else if (event.key === 'Enter' && count > 0) onChoose?.(Math.min(active, count - 1))
    else return
    event.preventDefault()
  }

  const rows = Array.from({ length: Math.max(0, Math.min(end, count) - start) }, (_, offset) => start + offset)
  const isActiveRendered = active >= start && active < end && active < count
  return (
    <div
      ref={container} class='virtual-list' role='listbox' aria-label={label} tabIndex={0}
      {...(isActiveRendered && { 'aria-activedescendant': `row-${active}` })}
      onScroll={updateRange} onKeyDown={onKeyDown}
    >
      <div class='virtual-list-content' role='presentation' style={{ height: `${heights.total}px` }}>
        <div
          ref={content} class='virtual-rows' role='presentation'
          style={{ transform: `translateY(${heights.offsetOf(start)}px)` }}
        >
          {rows.map((index) => (
            <div
              key={index} id={`row-${index}`} role='option' class={index === active
                ? 'virtual-row active'
                : 'virtual-row'}
              aria-selected={index === selected} aria-posinset={index + 1} aria-setsize={count}
              onClick={() => {
                setActive(index)
                onChoose?.(index)
              }}
            >
              {row(index)}
            </div>
          ))}
        </div>
      </div>
    </div>
  )
}
