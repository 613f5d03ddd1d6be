import { boundsOf, type FileConfig } from '../../lib/config/schema.js'
import { settingsOf, type AuthConfig, type Config } from '../../lib/config/config.js'

/**
 * What a test says of its configuration; the rest is as the process would have it by default, but quiet, and with the
 * embeddings of `MOCK_EMBEDDINGS`.
 */
export interface TestConfig extends Partial<Omit<Config, 'auth' | 'file' | 'settings' | 'bounds'>> {
  auth?: Partial<AuthConfig>
  file?: FileConfig
}

/**
 * Tests do without a model unless they name one: loading it takes long, and its vectors come after the write and change
 * scores.
 */
export const MOCK_EMBEDDINGS = { embedding_provider: 'mock' } as const satisfies FileConfig

export function testConfig (
  { auth = {}, file = {}, maxBodyBytes = 1024 * 1024, ...rest }: TestConfig = {},
): Config {
  return {
    host: '127.0.0.1',
    port: 0,
    logLevel: 'info',
    maxBodyBytes,
    healthTimeoutMs: 2000,
    shutdownTimeoutMs: 5000,
    drainMs: 0,
    auth: { mode: 'dev', oidcActorType: 'user', ...auth },
    database: {},
    file,
    settings: settingsOf({ ...MOCK_EMBEDDINGS, ...file }),
    bounds: boundsOf(file.bounds),
    baseDirectory: process.cwd(),
    warnings: [],
    ...rest,
  }
}
