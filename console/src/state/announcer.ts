import { signal } from '@preact/signals'

/** The next announcement for screen readers. */
export const announcement = signal('')

/** Announces an event of the page to users of screen readers. */
export function announce (text: string): void {
  // A repeated message is announced again only if it differs, here by an inaudible space.
  announcement.value = announcement.value === text ? `${text}\u00a0` : text
}
