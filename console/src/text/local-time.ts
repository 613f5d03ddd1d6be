const two = (value: number) => String(value).padStart(2, '0')

/**
 * An instant as the value of an input of type datetime-local, in the reader's time zone; empty for an invalid instant.
 */
export function localInputOf (instant: string): string {
  const date = new Date(instant)
  if (instant === '' || Number.isNaN(date.getTime())) return ''
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** The instant of such a value, in UTC; empty for an invalid value. */
export function instantOf (local: string): string {
  const date = new Date(local)
  return local === '' || Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('.000Z', 'Z')
}
