import type { ComponentChildren } from 'preact'

interface Props {
  summary: ComponentChildren
  class?: string
  children: ComponentChildren
}

/** Fields that are hidden until the user opens them, or until the browser has to report an invalid one. */
export function CollapsibleFields ({ summary, children, ...attributes }: Props) {
  return (
    <details {...attributes} onInvalidCapture={({ currentTarget }) => { currentTarget.open = true }}>
      <summary>{summary}</summary>
      {children}
    </details>
  )
}
