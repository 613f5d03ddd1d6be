import type { Tally } from '../client.js'
import type { Target } from '../target.js'

/** One hostile client, or many of the same kind. It ends by itself. */
export interface Input {
  name: string
  /** What it sends. */
  about: string
  /** More sections of the configuration, as YAML. */
  configuration?: string
  /** Statuses that answer it well; by default any of 2xx, 4xx, 503 and a closed connection. */
  allowed?: readonly string[]
  /** What has to be there before; not measured. */
  prepare? (target: Target): Promise<void>
  /** @returns what it found wrong, where that is more than a status */
  run (target: Target, tally: Tally): Promise<readonly string[] | undefined | void>
}
