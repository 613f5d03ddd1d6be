import { ProviderError } from '../../providers/registry.js'

/** @returns the URL of what `import` of the package would load; undefined when it is not installed */
export function findPackage (specifier: string): string | undefined {
  try {
    return import.meta.resolve(specifier)
  } catch {
    return undefined
  }
}

/**
 * Where packages are that an installation may lack.
 * @param who what stands in front of the message: `embedding_provider: local`
 * @returns a URL for each, in order
 * @throws ProviderError that says what to install
 */
export function requirePackages<Specifiers extends readonly string[]> (who: string, specifiers: Specifiers): { [Index in keyof Specifiers]: string } {
  const found = specifiers.map(findPackage)
  const missing = specifiers.filter((_, index) => found[index] === undefined)
  if (missing.length > 0) {
    throw new ProviderError(`${who} needs ${missing.length === 1 ? 'a package that is' : 'packages that are'} not installed: npm install ${missing.join(' ')}`)
  }
  return found as { [Index in keyof Specifiers]: string }
}
