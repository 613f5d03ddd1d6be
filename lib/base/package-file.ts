import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * The path of a file of the package. It is the same from the sources and from dist/, in whatever folder the process
 * runs.
 */
export function packageFile (name: string): string {
  const source = fileURLToPath(new URL(`../../${name}`, import.meta.url))
  return existsSync(source) ? source : fileURLToPath(new URL(`../../../${name}`, import.meta.url))
}

/** The version of the package. */
export function packageVersion (): string {
  const { version }: { version?: unknown } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
  return String(version)
}
