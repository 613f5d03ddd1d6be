import { readFileSync } from 'node:fs'

/** Reads a text file or throws. */
export type ReadFile = (path: string) => string

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'no such file'],
  ['ENOTDIR', 'no such file'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['ERR_ENCODING_INVALID_ENCODED_DATA', 'it is not UTF-8 text'],
])

/** Reads UTF-8 strictly: a replaced byte would silently change a secret. */
export function readUtf8 (path: string): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
}

/** Why a file cannot be read. The system's message would quote the path, which may be a misplaced secret. */
export function reasonOf (error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return REASONS.get(code) ?? 'it cannot be read'
}
