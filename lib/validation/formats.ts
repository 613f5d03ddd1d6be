import { INSTANT_RULE, parseInstant } from '../time/clock.js'
import { isUuid, isUuidV7 } from './ids.js'

/** The formats of texts, with the rule that the message about another text states. */
export const FORMATS: Readonly<Record<string, { validate: (text: string) => boolean, rule: string }>> = {
  'date-time': { validate: (text) => parseInstant(text) !== undefined, rule: INSTANT_RULE },
  uuid: { validate: isUuid, rule: 'must be a UUID' },
  uuid7: { validate: isUuidV7, rule: 'must be a UUIDv7' },
}
