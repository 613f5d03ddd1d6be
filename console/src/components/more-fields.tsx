import type { ComponentChildren } from 'preact'

interface Props {
  summary: ComponentChildren
  class?: string
  children: ComponentChildren
}

/** Fields that are out of the way until they are asked for, or until the browser has to show that one has a fault. */
export function MoreFields ({ summary, children, ...attributes }: Props) {
  return (
    <details {...attributes} onInvalidCapture={({ currentTarget }) => { currentTarget.open = true }}>
      <summary>{summary}</summary>
      {children}
    </details>
  )
}
