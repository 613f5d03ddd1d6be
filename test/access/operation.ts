import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Rights } from './matrix.js'

export type Letter = 'r' | 'w' | 'f' | 'a'

export const PERMISSION = { r: 'read', w: 'write', f: 'forget', a: 'admin' } as const satisfies Record<Letter, string>

/** The result of an operation. */
export interface Outcome {
  status: number
  code?: string | undefined
  detail?: string | undefined
  requestId?: string | undefined
}

/** A request on a bank. */
export interface Operation {
  name: string
  /** The permissions that it requires by the table of the specification, in the order in which they are checked. */
  needs: string
  /** Whether it changes the bank when it is allowed. */
  writes: boolean
  /** Whether an answer to who may do it has nothing of the bank, because the bank has none of what it asks for. */
  isSilent?: true
  request (bank: string, seed: Seed): InjectOptions
  /** Where that is not the status and the error of the gateway's own routes. */
  outcome?: (response: LightMyRequestResponse) => Outcome
}

/** The first permission that an operation lacks; undefined when it is allowed. */
export function missingPermission ({ needs }: Operation, rights: Rights): Letter | undefined {
  return ([...needs] as Letter[]).find((letter) => !rights.includes(letter))
}

/** What every bank contains before an operation. */
export interface Seed {
  kept: string
  dropped: string
}

export const SEED_TEXT = 'The otter sleeps on the river.'
export const SEED_CONFIG = { description: 'What is known of the otter.' }

/** The outcome of a request to a route of the gateway. */
export function routeOutcome (response: LightMyRequestResponse): Outcome {
  if (response.statusCode === 200) return { status: 200 }
  const { detail, code, request_id: requestId } =
    response.json<{ detail?: string, code?: string, request_id?: string }>()
  return { status: response.statusCode, detail, code, requestId }
}
