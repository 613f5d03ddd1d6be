import { INSTANT_RULE, parseInstant } from '../time/clock.js'
import { isUuid, isUuidV7 } from './ids.js'

/** Maximum length of an instant; only a fraction of a second could make it longer. */
const MAX_INSTANT_CHARACTERS = 64

/** The formats of texts, with the rule that the message about another text states. */
export const FORMATS: Readonly<Record<string, { validate: (text: string) => boolean, rule: string }>> = {
  'date-time': {
    validate: (text) => text.length <= MAX_INSTANT_CHARACTERS && parseInstant(text) !== undefined,
    rule: INSTANT_RULE,
  },
  uuid: { validate: isUuid, rule: 'must be a UUID' },
  uuid7: { validate: isUuidV7, rule: 'must be a UUIDv7' },
}
