import { formatDate, formatTime, formatUtc } from '../text/format.js'

/** An instant in the user's time zone, with UTC on hover; empty without an instant. */
export function Time ({ at, isDate = false }: { at: string | null | undefined, isDate?: boolean }) {
  if (at === null || at === undefined) return <span aria-label='none'>–</span>
  return <time datetime={at} title={formatUtc(at)}>{isDate ? formatDate(at) : formatTime(at)}</time>
}
