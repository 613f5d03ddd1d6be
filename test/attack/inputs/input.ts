import type { Tally } from '../client.js'
import type { Target } from '../target.js'

/** One hostile client, or many of the same kind. It ends by itself. */
export interface Input {
  name: string
  /** What it sends. */
  about: string
  /** More sections of the configuration, as YAML; a function starts what they refer to. */
  configuration?: string | (() => Promise<string>)
  /** The allowed statuses; by default any of 2xx, 4xx, 501, 503 and a closed connection. */
  allowed?: readonly string[]
  /** Preparation, which is not measured. */
  prepare? (target: Target): Promise<void>
  /** @returns faults that a status does not show */
  run (target: Target, tally: Tally): Promise<readonly string[] | undefined | void>
}

export async function configurationOf ({ configuration = '' }: Input): Promise<string> {
  return typeof configuration === 'string' ? configuration : await configuration()
}
