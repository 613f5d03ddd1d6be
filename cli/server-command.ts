import { readConnection } from './connection.js'
import { untilInterrupted } from './interrupt.js'
import { Remote } from './remote.js'

/** What every command of a server takes. */
export interface ServerOptions {
  profile?: string
  json?: boolean
}

/** Runs a command against the server that the environment or a profile names. */
export async function withServer<T> (
  { profile }: ServerOptions, work: (server: Remote, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const connection = readConnection(process.env, profile)
  return await untilInterrupted(async (signal) => await work(new Remote(connection, signal), signal))
}

/** The bank or banks of a recall; a bank's name has no comma in it. */
export function scopeOf (banks: string): { bank_id: string } | { banks: string[] } {
  const names = banks.split(',')
  return names.length === 1 ? { bank_id: banks } : { banks: names }
}

export interface FilterOptions {
  tag?: string[]
  tagsMatch?: string
  occurredAfter?: string
  occurredBefore?: string
}

export function filtersOf ({ tag, tagsMatch, occurredAfter, occurredBefore }: FilterOptions): Record<string, unknown> {
  return present({ tags: tag, tags_match: tagsMatch, occurred_after: occurredAfter, occurred_before: occurredBefore })
}

/** Without the members that are undefined. */
export function present (members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
