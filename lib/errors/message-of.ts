/** The message of anything that was thrown. */
export function messageOf (error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The stack of anything that was thrown. */
export function stackOf (error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error)
}
