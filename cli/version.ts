import { readFileSync } from 'node:fs'
import { packageFile } from '../lib/resources/package-file.js'

/** The version of the package. */
export function packageVersion (): string {
  const { version }: { version?: unknown } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
  return String(version)
}
