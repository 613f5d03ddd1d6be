import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { Environment } from './environment-reader.js'
import { readUtf8, reasonOf, type ReadFile } from './files.js'
import { ConfigurationError, printable } from './problems.js'
import { VARIABLES } from './variables.js'

export const ENV_FILE = '.env'

const ASSIGNMENT = /^\s*(?:export\s+)?[A-Za-z_][A-Za-z0-9_.-]*\s*=[ \t]*/
const NOTHING = /^\s*(?:#.*)?$/
/** Names of one setting: a variable, the file that may hold its value, and its other name. */
const SYNONYMS: ReadonlyArray<readonly string[]> = [['DATABASE_URL', 'SERVICES_PG_DSN']]

/**
 * What a file of variables in a folder, `.env` unless another is named, adds to an environment: variables that the environment does not have, in any of the forms in which
 * it may have them (`DATABASE_URL`, `DATABASE_URL_FILE`, `SERVICES_PG_DSN`).
 * @returns undefined when there is no `.env`; a file that was named has to be there
 * @throws ConfigurationError that names the lines that are wrong and shows none of them
 */
export function readEnvFile (folder: string, environment: Environment, readFile: ReadFile = readUtf8, name?: string): Record<string, string> | undefined {
  const text = textOf(folder, name, readFile)
  if (text === undefined) return undefined
  const problems = faultsOf(text, name ?? ENV_FILE)
  if (problems.length > 0) throw new ConfigurationError(problems)
  const added = Object.entries(parseEnv(text)).filter((entry): entry is [string, string] => entry[1] !== undefined && formsOf(entry[0]).every((name) => environment[name] === undefined))
  return Object.fromEntries(added)
}

/**
 * Puts what the file adds into the environment of the process, for all that reads it.
 * @param name of the file. Default `.env`
 * @returns whether there is such a file. @throws as readEnvFile()
 */
export function applyEnvFile (environment: NodeJS.ProcessEnv, folder: string, name?: string): boolean {
  const added = readEnvFile(folder, environment, readUtf8, name)
  Object.assign(environment, added)
  return added !== undefined
}

function textOf (folder: string, name: string | undefined, readFile: ReadFile): string | undefined {
  try {
    return readFile(resolve(folder, name ?? ENV_FILE)).replace(/^\uFEFF/, '')
  } catch (error) {
    if (name !== undefined) throw new ConfigurationError([`${printable(name)} cannot be read (${reasonOf(error)})`])
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new ConfigurationError([`${ENV_FILE} in the working directory cannot be read (${reasonOf(error)})`])
  }
}

/** Node's parser passes over what it does not understand. A line may hold a secret, so only its number is told. */
function faultsOf (text: string, path: string): string[] {
  const file = printable(path)
  const lines = text.split(/\r?\n/)
  const problems: string[] = []
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!
    if (NOTHING.test(line)) continue
    const name = ASSIGNMENT.exec(line)
    if (name === null) {
      problems.push(`${file}: line ${index + 1} is no NAME=value`)
      continue
    }
    const value = line.slice(name[0].length)
    const quote = /^["'`]/.exec(value)?.[0]
    if (quote === undefined) {
      // Read as a comment it would cut a password in two.
      if (/\S#/.test(value)) problems.push(`${file}: line ${index + 1} has a # in its value, which has to stand in quotes; a comment has a space before it`)
      continue
    }
    // A value in quotes may go over lines.
    let rest = value.slice(1)
    let last = index
    while (!rest.includes(quote) && last + 1 < lines.length) rest = lines[++last]!
    const end = rest.indexOf(quote)
    if (end === -1) problems.push(`${file}: the quote that begins in line ${index + 1} has no end`)
    else if (!NOTHING.test(rest.slice(end + 1))) problems.push(`${file}: line ${last + 1} has more behind the end of its quote`)
    index = end === -1 ? index : last
  }
  return problems
}

/** Every name under which the environment may have this setting already; of what is no secret of ours, the name itself. */
function formsOf (name: string): string[] {
  const secret = VARIABLES.find((variable) => variable.secret && (variable.name === name || `${variable.name}_FILE` === name))
  if (secret === undefined) return [name]
  const names = SYNONYMS.find((group) => group.includes(secret.name)) ?? [secret.name]
  return names.flatMap((one) => [one, `${one}_FILE`])
}
