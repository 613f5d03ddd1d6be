import type { Metadata } from '../../../lib/stores/vector-store.js'
import type { MemoryFields } from '../../helpers/memories.js'
import type { FilterCase } from './filter-case.js'

const by = (speaker: Metadata[string], role?: Metadata[string]): MemoryFields => (
  { metadata: role === undefined ? { speaker } : { speaker, role } }
)

/** Letters whose case no locale and no database agrees on, and names that are none. */
const SPEAKERS: Record<string, MemoryFields> = {
  none: { metadata: { other: 'caroline' } },
  caroline: by('Caroline'),
  padded: by('\u2003 caROLINE\u200b\n'),
  longer: by('Caroline B.'),
  number: by(1),
  numberOfUser: by(1, 'USER'),
  blankUser: by(' \u3000', 'user'),
  user: { metadata: { role: 'user' } },
  otherRole: { metadata: { role: 'Caroline' } },
  paddedRole: { metadata: { role: ' user' } },
  namedUser: by('Caroline ', 'user'),
  sigma: by('ΟΔΥΣΣΕΥΣ'),
  odysseus: by('Οδυσσεύς'),
  sharp: by('Groß'),
  capitalSharp: by('GROẞ'),
  doubleS: by('GROSS'),
  kelvin: by('\u212aarl'),
  dotless: by('Işıl'),
  dotted: by('İpek'),
  cyrillic: by('КАРОЛИНА'),
  deseret: by('\u{10400}'),
  controlled: by('Caro\nline'),
  longest: by('é'.repeat(128)),
  tooLong: by('é'.repeat(129)),
  quoted: by("O'Neil\\%_"),
}

const FOUND: Array<[speakers: string[], names: string[]]> = [
  [['CAROLINE'], ['caroline', 'padded', 'namedUser']],
  [['caroline b.', 'User'], ['longer', 'numberOfUser', 'user']],
  [['1'], []],
  [['οδυσσευσ', 'οδυσσεύσ'], ['sigma', 'odysseus']],
  [['groß'], ['sharp', 'capitalSharp']],
  [['gross'], ['doubleS']],
  [['KARL'], ['kelvin']],
  [['IŞIL'], ['dotless']],
  [['ipek'], []],
  [['Каролина'], ['cyrillic']],
  [['\u{10428}'], ['deseret']],
  [['caro\nline', 'Caro', '', ' '], []],
  [['É'.repeat(128)], ['longest']],
  [['é'.repeat(129)], []],
  [["o'neil\\%_", '\u0000', '\ud800'], ['quoted']],
  [[], []],
]

export const SPEAKER_CASES: FilterCase[] = FOUND.map(([speakers, expected]) => ({
  about: `the speakers ${JSON.stringify(speakers).slice(0, 60)}`, filters: { speakers }, memories: SPEAKERS, expected,
}))
