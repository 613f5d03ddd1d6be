import { ProviderError } from '../config/providers/registry.js'

/** @returns the URL that `import` of the package would load; undefined when it is not installed */
export function findPackage (specifier: string): string | undefined {
  try {
    return import.meta.resolve(specifier)
  } catch {
    return undefined
  }
}

/**
 * Finds optional packages.
 * @param who the beginning of the message: `embedding_provider: local`
 * @returns a URL for each, in order
 * @throws ProviderError that names the packages to install
 */
export function requirePackages<Specifiers extends readonly string[]> (
  who: string, specifiers: Specifiers,
): { [Index in keyof Specifiers]: string } {
  const found = specifiers.map(findPackage)
  const missing = specifiers.filter((_, index) => found[index] === undefined)
  if (missing.length > 0) {
    const packages = missing.length === 1 ? 'a package that is' : 'packages that are'
    throw new ProviderError(`${who} needs ${packages} not installed: npm install ${missing.join(' ')}`)
  }
  return found as { [Index in keyof Specifiers]: string }
}
