/** The path as the router compares it with the registered ones, which are not percent-encoded. */
export function decodedPath (path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
