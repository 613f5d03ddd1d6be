import t from 'tap'
import { loadConfig } from '../../../lib/config/load.js'

const keyOf = (env: Record<string, string>): string | undefined => loadConfig(env, { exists: () => false }).cursorKey

t.test('processes with the same secrets have the same key for cursors', async (t) => {
  const env = { SERVICE_AUTH_MODE: 'jwt_hs256', SERVICE_JWT_SECRET: 's'.repeat(40), SERVICE_ADMIN_TOKEN: 'operator' }
  const key = keyOf(env)
  t.match(key, /^[0-9a-f]{64}$/)
  t.equal(keyOf({ ...env, SERVICES_PORT: '1', SERVICES_LOG_LEVEL: 'error' }), key)
  for (const other of [{ SERVICE_JWT_SECRET: 't'.repeat(40) }, { SERVICE_ADMIN_TOKEN: 'other' }]) {
    t.not(keyOf({ ...env, ...other }), key)
  }
})

t.test('each secret alone gives a key, and the place of a secret matters', async (t) => {
  const keys = [
    { SERVICE_API_KEY: 'secret' }, { SERVICE_JWT_SECRET: 'secret' }, { SERVICE_ADMIN_TOKEN: 'secret' },
    { DATABASE_URL: 'postgres://memory:secret@db/memory' },
  ].map((env) => keyOf(env))
  t.equal(new Set(keys).size, 4)
  t.notOk(keys.includes(undefined))
  t.equal(
    keyOf({ DATABASE_URL: 'postgres://memory:secret@replica/memory' }),
    keyOf({ DATABASE_URL: 'postgres://memory:secret@db/memory' }),
    'the address of the database is no secret',
  )
})

t.test('without a secret there is no key to share', async (t) => {
  t.equal(keyOf({}), undefined)
  t.equal(keyOf({ DATABASE_URL: 'postgres://db/memory' }), undefined)
})
