import { useLayoutEffect, useRef } from 'preact/hooks'

/** Whether a page was shown before: the focus moves to the title of every page except the first. */
let hasShownPage = false

/** The heading of a page. It takes the focus after a navigation, so that keyboard and screen reader continue there. */
export function PageTitle ({ title, about }: { title: string, about?: string }) {
  const heading = useRef<HTMLHeadingElement>(null)
  // Together with the heading, so that neither is ever seen with the other of the page before.
  useLayoutEffect(() => {
    document.title = `${title} · Memory Gateway`
    if (hasShownPage) heading.current?.focus()
    hasShownPage = true
  }, [title])
  return (
    <header class='page-title'>
      <h1 ref={heading} tabIndex={-1}>{title}</h1>
      {about !== undefined && <p>{about}</p>}
    </header>
  )
}
