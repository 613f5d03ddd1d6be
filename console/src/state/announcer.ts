import { signal } from '@preact/signals'

/** The next announcement for screen readers. */
export const announcement = signal('')

/** Tells readers who do not see the page what has happened on it. */
export function announce (text: string): void {
  // A repeated message is announced again only if it differs, here by an inaudible space.
  announcement.value = announcement.value === text ? `${text}\u00a0` : text
}
