import { checkDatabaseUrl } from '../lib/stores/sql/providers.js'
import { UnusableInput } from './checker.js'

/** @throws UnusableInput for a `--url` that names no PostgreSQL database */
export function checkUrl (url: string): string {
  try {
    return checkDatabaseUrl(url, '--url')
  } catch (error) {
    throw error instanceof Error ? new UnusableInput(error.message) : error
  }
}
