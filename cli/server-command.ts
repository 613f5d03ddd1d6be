import type { Trust } from '../lib/access/trust.js'
import type { MemoryGatewayClient } from '../packages/client/src/index.js'
import { readConnection } from './connection.js'
import { describeError, openGateway, type Call } from './gateway.js'
import { untilInterrupted } from './interrupt.js'
import type { Metadata } from './option-values.js'
import { withoutUndefined } from '../lib/base/members.js'

/** The options of every command that calls a server. */
export interface ServerOptions {
  profile?: string
  json?: boolean
}

/**
 * Runs a command against the server that the environment or a profile names.
 * @param work receives the client, and the options that it must pass to every call
 * @throws CommandError
 */
export async function withServer<T> (
  { profile }: ServerOptions, work: (gateway: MemoryGatewayClient, call: Call) => Promise<T>,
): Promise<T> {
  const connection = readConnection(process.env, profile)
  return await untilInterrupted(async (signal) => {
    const { gateway, call } = openGateway(connection, signal)
    try {
      return await work(gateway, call)
    } catch (error) {
      throw describeError(error, connection)
    }
  })
}

/** The bank or banks of a recall, separated by commas, which no bank id contains. */
export function scopeOf (banks: string): { bank_id: string } | { banks: string[] } {
  const names = banks.split(',')
  return names.length === 1 ? { bank_id: banks } : { banks: names }
}

/** Whether a memory must have any of the given tags or all of them. */
export type TagsMatch = 'any' | 'all'

/** The filters of a recall, a reflect and a forget. */
export interface ConditionOptions {
  tag?: string[]
  tagsMatch?: TagsMatch
  document?: string[]
  metadata?: Metadata
  speaker?: string[]
  occurredAfter?: string
  occurredBefore?: string
}

export interface FilterOptions extends ConditionOptions {
  asOf?: string
  state?: 'current' | 'history' | 'all'
  validAt?: string
  minTrust?: Trust
  referenceTime?: string
}

export function conditionsOf (
  { tag, tagsMatch, document, speaker, metadata, occurredAfter, occurredBefore }: ConditionOptions,
) {
  return withoutUndefined({
    tags: tag,
    tags_match: tagsMatch,
    document_ids: document,
    speakers: speaker,
    metadata,
    occurred_after: occurredAfter,
    occurred_before: occurredBefore,
  })
}

/** The filters of a recall, and the time to which its query refers. */
export function filtersOf (options: FilterOptions) {
  const { asOf, state, validAt, minTrust, referenceTime } = options
  return {
    ...conditionsOf(options),
    ...withoutUndefined({
      as_of: asOf, state, valid_at: validAt, min_trust: minTrust, reference_time: referenceTime,
    }),
  }
}
