import { signal } from '@preact/signals'

/** What screen readers say next. */
export const announcement = signal('')

/** Tells readers who do not see the page what has happened on it. */
export function announce (text: string): void {
  // The same words again are said again when they differ by a space that nobody hears.
  announcement.value = announcement.value === text ? `${text}\u00a0` : text
}
