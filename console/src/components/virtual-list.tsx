import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface Props {
  label: string
  count: number
  /** Height of every row in pixels. */
  rowHeight: number
  row: (index: number) => ComponentChildren
  /** Called for a click on a row, or Enter. */
  onChoose?: (index: number) => void
  /** Called when the last loaded rows come near the visible part. */
  onNearEnd?: () => void
  /** The number of all rows, if it is known; `count` of them can be scrolled to. */
  total?: number
  /** The row that is open beside the list. */
  selected?: number
}

/** Rows that are rendered beyond both ends of the visible part. */
const OVERSCAN_ROWS = 8
const NEAR_END_ROWS = 60

/**
 * A long list of rows of equal height, of which only those in view are rendered. One row is active; the arrow keys,
 * Page Up and Page Down, Home and End move it, Enter chooses it.
 */
export function VirtualList ({ label, count, rowHeight, row, onChoose, onNearEnd, total, selected }: Props) {
  const container = useRef<HTMLDivElement>(null)
  const [range, setRange] = useState<[start: number, end: number]>([0, 0])
  const [active, setActive] = useState(0)

  const updateRange = () => {
    const { current } = container
    if (current === null) return
    const first = Math.floor(current.scrollTop / rowHeight)
    const visibleRows = Math.ceil(current.clientHeight / rowHeight)
    // In steps, so that most scroll events change nothing.
    const start = Math.max(0, Math.floor((first - OVERSCAN_ROWS) / OVERSCAN_ROWS) * OVERSCAN_ROWS)
    const end = Math.min(count, Math.ceil((first + visibleRows + OVERSCAN_ROWS) / OVERSCAN_ROWS) * OVERSCAN_ROWS)
    setRange((old) => old[0] === start && old[1] === end ? old : [start, end])
    if (first + visibleRows + NEAR_END_ROWS >= count) onNearEnd?.()
  }
  useEffect(updateRange, [count, rowHeight])
  useEffect(() => {
    const { current } = container
    if (current === null) return
    const observer = new ResizeObserver(updateRange)
    observer.observe(current)
    return () => { observer.disconnect() }
  }, [count, rowHeight])

  const move = (to: number) => {
    const { current } = container
    if (current === null || count === 0) return
    const index = Math.max(0, Math.min(count - 1, to))
    setActive(index)
    const top = index * rowHeight
    if (top < current.scrollTop) current.scrollTop = top
    const bottom = top + rowHeight - current.clientHeight
    if (bottom > current.scrollTop) current.scrollTop = bottom
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((container.current?.clientHeight ?? 0) / rowHeight) - 1)
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: count - 1,
    }
    const to = moves[event.key]
    if (to !== undefined) move(to)
    else if (event.key === 'Enter' && count > 0) onChoose?.(Math.min(active, count - 1))
    else return
    event.preventDefault()
  }

  const [start, end] = range
  const rows = Array.from({ length: Math.max(0, Math.min(end, count) - start) }, (_, offset) => start + offset)
  const isActiveRendered = active >= start && active < end && active < count
  return (
    <div
      ref={container} class='virtual-list' role='listbox' aria-label={label} tabIndex={0}
      {...(isActiveRendered && { 'aria-activedescendant': `row-${active}` })}
      onScroll={updateRange} onKeyDown={onKeyDown}
    >
      <div class='virtual-list-content' role='presentation' style={{ height: `${count * rowHeight}px` }}>
        {rows.map((index) => (
          <div
            key={index} id={`row-${index}`} role='option' class={index === active
              ? 'virtual-row active'
              : 'virtual-row'}
            aria-selected={index === selected} aria-posinset={index + 1} aria-setsize={total ?? count}
            style={{ height: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` }}
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
  )
}
