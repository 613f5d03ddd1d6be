import type { AuthConfig, Config } from '../../lib/config/config.js'
import type { FileConfig } from '../../lib/config/schema.js'
import { settingsOf } from '../../lib/config/settings.js'

/** What a test says of its configuration; the rest is as the process would have it by default, but quiet. */
export interface TestConfig extends Partial<Omit<Config, 'auth' | 'file' | 'settings'>> {
  auth?: Partial<AuthConfig>
  file?: FileConfig
}

export function testConfig ({ auth = {}, file = {}, ...rest }: TestConfig = {}): Config {
  return {
    host: '127.0.0.1',
    port: 0,
    logLevel: 'info',
    maxBodyBytes: 10 * 1024 * 1024,
    healthTimeoutMs: 2000,
    shutdownTimeoutMs: 5000,
    auth: { mode: 'dev', oidcActorType: 'user', ...auth },
    database: {},
    file,
    settings: settingsOf(file),
    baseDirectory: process.cwd(),
    warnings: [],
    ...rest,
  }
}
