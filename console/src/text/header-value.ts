// What fetch accepts as the value of a header, without control characters.
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/

export const NOT_SENDABLE = 'It has a character that no header can carry.'

/** Whether credentials can be sent as they are. */
export function isSendable (text: string): boolean {
  return SENDABLE.test(text)
}
