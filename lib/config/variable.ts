import type { AuthMode } from './config.js'

/** The values that a variable may have. All but secrets are trimmed; the case of choices is ignored. */
export type Kind =
  | { type: 'text' | 'switch' | 'word' | 'host' | 'hosts' | 'origins' | 'url' | 'path' }
  | { type: 'integer', min: number, max: number }
  | { type: 'choice', values: readonly string[] }

/** One environment variable. */
export interface Variable {
  name: string
  /** A secret is never shown, and may also come from the file that `<name>_FILE` names. */
  secret: boolean
  kind: Kind
  default?: string
  description: string
  /** The only auth mode that reads it. */
  mode?: AuthMode
  /** Whether that mode answers 500 without it. */
  required?: boolean
}
