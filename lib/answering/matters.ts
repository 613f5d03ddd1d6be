import { stem } from '../text/stems.js'
import { words } from '../text/words.js'

/**
 * What people tell about themselves and change: a statement of such a matter and one of its change share no word
 * (`I live in Berlin`, `I moved to Paris`).
 */
const MATTERS = `
live reside move relocate settle apartment flat,
work job employ career hire join company firm employer quit resign promote position role profession office
retire occupation,
boss manager supervisor,
study major university college school degree enroll graduate course student,
marry wife husband spouse partner boyfriend girlfriend date engage divorce single relationship fiance widow separate,
eat diet vegan vegetarian meat pescatarian gluten dairy lactose food cook keto,
drink coffee tea alcohol beer wine sober decaf caffeine soda,
allergy allergic intolerant react outgrow,
drive car commute vehicle bike bicycle cycle bus train metro scooter tram ride,
phone number mobile laptop computer device android iphone,
name call rename surname nickname,
gym exercise workout run jog yoga swim train climb pilates,
smoke cigarette vape nicotine,
editor theme language framework database stack tool migrate switch deploy hosting,
meet meeting appointment schedule reschedule postpone cancel deadline release launch flight trip wedding party
conference,
doctor dentist physician therapist medicine medication dose pill prescribe,
bank account price cost rent salary budget pay fee,
weigh weight kilo kg pound
`

const MATTER_OF: ReadonlyMap<string, number> = new Map(MATTERS.split(',').flatMap((line, matter) => (
  words(line).map((word): [string, number] => [stem(word), matter])
)))

/** Whether a text with these stems has the stem, or a word of the same matter. */
export function hasWordOrMatter (stems: ReadonlySet<string>, matters: ReadonlySet<number>, stem: string): boolean {
  const matter = MATTER_OF.get(stem)
  return stems.has(stem) || (matter !== undefined && matters.has(matter))
}

/** The matters that a text with these stems is about. */
export function mattersOf (stems: Iterable<string>): ReadonlySet<number> {
  const matters = new Set<number>()
  for (const stem of stems) {
    const matter = MATTER_OF.get(stem)
    if (matter !== undefined) matters.add(matter)
  }
  return matters
}
