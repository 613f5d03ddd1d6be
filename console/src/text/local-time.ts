const twoDigits = (value: number) => String(value).padStart(2, '0')

/**
 * An instant as the value of an input of type datetime-local, in the user's time zone; empty for an invalid instant.
 */
export function toLocalInput (instant: string): string {
  const date = new Date(instant)
  if (instant === '' || Number.isNaN(date.getTime())) return ''
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`
  return `${day}T${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}`
}

/** The instant of such a value, in UTC; empty for an invalid value. */
export function fromLocalInput (local: string): string {
  const date = new Date(local)
  return local === '' || Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('.000Z', 'Z')
}
