const twoDigits = (value: number) => String(value).padStart(2, '0')

/**
 * An instant as the value of an input of type datetime-local, in the user's time zone; empty for an invalid instant.
 */
export function toLocalInput (instant: string): string {
  const date = new Date(instant)
  if (instant === '' || Number.isNaN(date.getTime())) return ''
  const year = String(date.getFullYear()).padStart(4, '0')
  const day = `${year}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`
  return `${day}T${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}`
}

/**
 * The instant of such a value, in the user's time zone, because "yesterday" in a query is read at the offset of the
 * reference time; empty for an invalid value.
 */
export function fromLocalInput (local: string): string {
  const date = new Date(local)
  if (local === '' || Number.isNaN(date.getTime())) return ''
  const offset = -date.getTimezoneOffset()
  // RFC 3339 has no seconds in offsets, but the local times before time zones had them.
  if (!Number.isInteger(offset)) return date.toISOString()
  const minutes = Math.abs(offset)
  const offsetText = `${offset < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`
  return `${toLocalInput(date.toISOString())}${offsetText}`
}
