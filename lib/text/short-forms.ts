import { stem } from './stems.js'

/**
 * Words with the short forms in which people write them in messages, and words with their British or American spelling.
 * Synonyms (`child`, `kid`) are not among them, and neither are short forms of several words (`doc`, `ad`). `lay laid`
 * is among them because `lay` is also the past of `lie`, and has its stem.
 */
const GROUPS = `
family fam, business biz, picture photo pic, favorite favourite fave, mother mom mum, father dad, grandmother grandma,
grandfather grandpa, brother bro, sister sis, puppy pup, kitten kitty, birthday bday, university uni, vacation vacay,
information info, refrigerator fridge, bicycle bike, motorcycle motorbike, television tv, telephone phone,
airplane aeroplane plane, apartment apt, veterinarian vet, vegetable veggie veg, tournament tourney,
video vid, conversation convo, comfortable comfy, introduction intro, preparation prep, advertisement advert,
examination exam, laboratory lab, math maths mathematics, influenza flu, limousine limo, recommendation rec,
color colour, center centre, theater theatre, neighbor neighbour, neighborhood neighbourhood, gray grey,
jewelry jewellery, humor humour, harbor harbour, flavor flavour, labor labour, favor favour, honor honour,
organize organise, realize realise, recognize recognise, program programme, license licence, practice practise,
pajamas pyjamas, tire tyre, traveler traveller, catalog catalogue, dialog dialogue, cozy cosy, mustache moustache,
lay laid`

/** By the stem of each word, the stems of the others of its group. */
const OTHERS: ReadonlyMap<string, readonly string[]> = new Map(GROUPS.split(',').flatMap((group) => {
  const stems = [...new Set(group.trim().split(/\s+/).map(stem))]
  return stems.map((one): [string, string[]] => [one, stems.filter((other) => other !== one)])
}))

const NONE: readonly string[] = []

/**
 * The terms under which the same word may be written otherwise.
 * @param term a stem
 */
export function otherForms (term: string): readonly string[] {
  return OTHERS.get(term) ?? NONE
}
