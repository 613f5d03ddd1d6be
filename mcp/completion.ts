import type { CompleteResult } from '@modelcontextprotocol/server'
import { listBanks } from '../lib/operations/banks.js'
import type { Caller } from './caller.js'

/** The number of banks that are searched for a prefix, and the most values that the protocol allows. */
const MAX_BANKS = 200
const MAX_VALUES = 100

/** Completes names of banks; other arguments of prompts and resources have no list of values. */
export async function completeBank (
  argument: { name: string, value: string }, caller: Caller, { signal }: { signal: AbortSignal },
): Promise<CompleteResult> {
  if (argument.name !== 'bank_id') return { completion: { values: [], hasMore: false } }
  const { banks, next_cursor: next } = await caller.ask(listBanks, { limit: MAX_BANKS }, { signal })
  const found = banks.map(({ bank_id: bankId }) => bankId).filter((bankId) => bankId.startsWith(argument.value))
  return { completion: { values: found.slice(0, MAX_VALUES), hasMore: next !== null || found.length > MAX_VALUES } }
}
