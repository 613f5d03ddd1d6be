/** A promise that is pending until the test calls `open`. */
export function gate (): { opened: Promise<void>, open: () => void } {
  let open!: () => void
  const opened = new Promise<void>((resolve) => { open = resolve })
  return { opened, open }
}

/** Waits, a turn of the event loop at a time, until something holds. */
export async function until (holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => { setImmediate(resolve) })
}
