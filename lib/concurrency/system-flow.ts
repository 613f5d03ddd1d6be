/** No key of a caller or of a bank begins with this: ids and names have no control characters but the NUL of a bank. */
const PREFIX = '\u0001'

/**
 * The flow of work that belongs to no single caller or bank. Other flows are keys of callers (`callerOf`) and of banks
 * (`bankKeyString`), which clients choose: without the prefix, a bank could share the turns of the server's own work.
 */
export function systemFlow (name: string): string {
  return PREFIX + name
}
