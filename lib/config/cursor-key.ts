import { hkdfSync } from 'node:crypto'
import type { Config } from './config.js'

const KEY_BYTES = 32
/** A change of it voids the cursors that clients hold. */
const PURPOSE = 'memory-gateway cursors 1'

/**
 * Derives the key of cursors (HKDF, RFC 5869) from all secrets of the process together, so that no caller who knows one
 * of them has it. The password of the database counts, because a mode without a secret has often only that.
 * @returns 64 hexadecimal digits; undefined when there is no secret
 */
export function cursorKeyOf (
  { auth, adminToken, database }: Pick<Config, 'adminToken' | 'database'> & {
    auth: Pick<Config['auth'], 'apiKey' | 'jwtSecret'>
  },
): string | undefined {
  const secrets = [auth.apiKey, auth.jwtSecret, adminToken, passwordOf(database.url)]
  if (secrets.every((secret) => secret === undefined)) return undefined
  const all = JSON.stringify(secrets.map((secret) => secret ?? null))
  return Buffer.from(hkdfSync('sha256', all, '', PURPOSE, KEY_BYTES)).toString('hex')
}

function passwordOf (url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined
  const { password } = new URL(url)
  return password === '' ? undefined : password
}
