import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A file of the package, found alike from the sources and from dist/, whatever the working directory is. */
export function packageFile (name: string): string {
  const source = fileURLToPath(new URL(`../${name}`, import.meta.url))
  return existsSync(source) ? source : fileURLToPath(new URL(`../../${name}`, import.meta.url))
}
