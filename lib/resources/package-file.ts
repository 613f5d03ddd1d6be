import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * The path of a file of the package. It is the same from the sources and from dist/, in whatever folder the process
 * runs.
 */
export function packageFile (name: string): string {
  const source = fileURLToPath(new URL(`../../${name}`, import.meta.url))
  return existsSync(source) ? source : fileURLToPath(new URL(`../../../${name}`, import.meta.url))
}
