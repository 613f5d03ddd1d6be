import { INSTANT_RULE, parseInstant } from '../../time/clock.js'
import { parseDay } from '../../time/days.js'
import { isUuid } from '../../validation/ids.js'

interface Format {
  test: (text: string) => boolean
  /** Completes a sentence that begins with the field's name. */
  rule: string
}

/** Each test takes time linear in the length of the text. */
const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['date-time', { test: (text) => parseInstant(text) !== undefined, rule: INSTANT_RULE }],
  ['date', { test: (text) => parseDay(text) !== undefined, rule: 'must be a date like 2024-03-01' }],
  ['email', { test: isMailAddress, rule: 'must be an email address' }],
  [
    'uri',
    {
      test: (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && !/\s/.test(text) && URL.canParse(text),
      rule: 'must be a URI',
    },
  ],
  ['uuid', { test: isUuid, rule: 'must be a UUID' }],
])

export const FORMAT_NAMES: readonly string[] = [...FORMATS.keys()]

/** @returns the rule that the text breaks; undefined when it breaks none, or the format is unknown */
export function brokenFormat (name: string, text: string): string | undefined {
  const format = FORMATS.get(name)
  return format === undefined || format.test(text) ? undefined : format.rule
}

/** One @ between two parts without white space, the second with a dot. */
function isMailAddress (text: string): boolean {
  const [local, domain, more] = text.split('@', 3)
  return more === undefined && !/\s/.test(text) && local !== undefined && local !== '' && local.length <= 64 &&
    domain !== undefined && domain.length <= 255 && /^[^.]+(?:\.[^.]+)+$/.test(domain)
}
