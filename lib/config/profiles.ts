import { didYouMean } from '../errors/wording.js'
import { formatPath } from './paths.js'
import { quote } from './problems.js'
import type { FileConfig } from './schema.js'

/** A sentence for each bank of the file that chooses a profile which is not there. */
export function missingProfiles ({ banks = {}, profiles = {} }: FileConfig): string[] {
  const names = Object.keys(profiles)
  return Object.entries(banks).flatMap(([bankId, { profile }]) => profile === undefined || names.includes(profile)
    ? []
    : [`${formatPath(['banks', bankId, 'profile'])}: found ${quote(profile)}, allowed is a name under profiles${didYouMean(profile, names)}`])
}
