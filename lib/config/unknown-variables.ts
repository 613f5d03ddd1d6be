import { distance } from 'fastest-levenshtein'
import type { Environment } from './environment-reader.js'
import { printable } from './problems.js'
import { KNOWN_NAMES, VARIABLES, type VariableName } from './variables.js'

const OWN_PREFIX = /^SERVICES?_/
const DATABASE_LIKE = /^(DAT|MIGRATE_)/
const DATABASE_NAMES = KNOWN_NAMES.filter((name) => DATABASE_LIKE.test(name))

/**
 * Checks the names of variables, never their values. A name that is nearly that of a known variable is a problem; any
 * other unknown name with one of our prefixes is a warning.
 * @param used the variables that the command reads; names close to others are ignored
 */
export function findUnknownVariables (
  environment: Environment, used: readonly VariableName[] = VARIABLES.map(({ name }) => name),
): { problems: string[], warnings: string[] } {
  const problems: string[] = []
  const warnings: string[] = []
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || KNOWN_NAMES.includes(name)) continue
    const meant = nearMiss(name)
    if (meant !== undefined && !used.some((known) => meant === known || meant === `${known}_FILE`)) continue
    if (meant !== undefined) {
      problems.push(`${printable(name)} is not a known variable; did you mean ${meant}?`)
    } else if (OWN_PREFIX.test(name)) {
      warnings.push(`${printable(name)} is not a known variable and is ignored${hint(name)}`)
    }
  }
  // Many platforms set PORT and wait for the service to listen on it.
  if (environment['PORT'] !== undefined && environment['SERVICES_PORT'] === undefined) {
    warnings.push('PORT is set but ignored: the server takes its port from SERVICES_PORT, which is not set')
  }
  return { problems, warnings }
}

function nearMiss (name: string): string | undefined {
  if (OWN_PREFIX.test(name)) return closest(name, KNOWN_NAMES, () => true)
  return DATABASE_LIKE.test(name) ? closest(name, DATABASE_NAMES, isTypo) : undefined
}

function closest (
  name: string, known: readonly string[], accept: (name: string, known: string) => boolean,
): string | undefined {
  const near = known.filter((candidate) => distance(name, candidate) <= 2 && accept(name, candidate))
  return near.sort((left, right) => distance(name, left) - distance(name, right))[0]
}

/**
 * For names without our prefixes, two changes in one word are mostly another word and not a typing error: DATABASE_SSL,
 * DATABASE_UID and DATALAKE_URL belong to other programs. One change a word, or two letters swapped, is an error.
 */
function isTypo (name: string, known: string): boolean {
  if (distance(name, known) === 1) return true
  const words = name.split('_')
  const knownWords = known.split('_')
  return words.length === knownWords.length && knownWords.every((word, index) => {
    const found = words[index] ?? ''
    return distance(found, word) <= 1 || letters(found) === letters(word)
  })
}

function letters (word: string): string {
  return [...word].sort().join('')
}

function hint (name: string): string {
  const plain = VARIABLES.some((variable) => !variable.secret && `${variable.name}_FILE` === name)
  return plain ? '; only a secret may come from a file' : ''
}
