import { didYouMean } from '../errors/wording.js'
import { formatPath } from './paths.js'
import { quote } from './problems.js'
import type { FileConfig } from './schema.js'

/** A problem for each bank of the file that chooses a profile which does not exist. */
export function missingProfiles ({ banks = {}, profiles = {} }: FileConfig): string[] {
  const names = Object.keys(profiles)
  return Object.entries(banks).flatMap(([bankId, { profile }]) => {
    if (profile === undefined || names.includes(profile)) return []
    const place = formatPath(['banks', bankId, 'profile'])
    return [`${place}: found ${quote(profile)}, allowed is a name under profiles${didYouMean(profile, names)}`]
  })
}
