/** The ids that the server takes: BANK_ID of lib/base/ids.ts, which is no part of the console. */
const BANK_ID = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,254}$/

export const INVALID_BANK_ID = 'This is not the id of a bank.'

export function isBankId (text: string): boolean {
  return BANK_ID.test(text)
}

/** The ids in a text, separated by spaces or commas, which no id contains. */
export function bankIdsIn (text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((id) => id !== ''))]
}
