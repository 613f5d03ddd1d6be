import type { ListMemoriesRequest } from 'memory-gateway-client'

/** Which memories a list or a search is of; empty: not told. */
export type StateChoice = NonNullable<ListMemoriesRequest['state']> | ''

/** With their names. */
export const STATES = [
  ['current', 'current'],
  ['history', 'superseded and retired'],
  ['all', 'current and past'],
] as const

export function stateChoiceOf (value: string | null): StateChoice {
  return STATES.find(([state]) => state === value)?.[0] ?? ''
}
