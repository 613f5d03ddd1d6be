import t from 'tap'
import { boundsOf } from '../../../lib/config/schema.js'
import { settingsOf, type Config } from '../../../lib/config/config.js'
import { load, problems } from './load-with.js'

await t.test('an empty environment gives the documented defaults', async (t) => {
  const { settings, bounds, ...config } = load({})
  t.same(settings, settingsOf({}))
  t.same(bounds, boundsOf())
  t.same(JSON.parse(JSON.stringify(config)), {
    allowDevAuth: false,
    host: '127.0.0.1',
    port: 8080,
    logLevel: 'info',
    maxBodyBytes: 1_048_576,
    healthTimeoutMs: 2_000,
    shutdownTimeoutMs: 30_000,
    drainMs: 0,
    auth: { mode: 'dev', oidcActorType: 'user' },
    database: {},
    file: {},
    baseDirectory: '/work',
    warnings: ['SERVICE_ADMIN_TOKEN is not set: admin routes are unprotected'],
    callerWarnings: [],
  })
})

await t.test('every variable reaches its place in the configuration', async (t) => {
  const config = load({
    SERVICES_HOST: 'localhost',
    SERVICES_PORT: '0',
    SERVICES_MAX_BODY_BYTES: '1024',
    SERVICES_HEALTH_TIMEOUT_MS: '60000',
    SERVICES_SHUTDOWN_TIMEOUT_MS: '1000',
    SERVICES_LOG_LEVEL: 'silent',
    SERVICE_AUTH_MODE: 'jwt_oidc',
    SERVICE_API_KEY: 'the-key',
    SERVICE_JWT_SECRET: 'the-secret',
    SERVICE_JWT_AUDIENCE: 'memory',
    SERVICE_JWT_ISSUER: 'issuer',
    SERVICE_OIDC_JWKS_URL: 'https://id.example/keys',
    SERVICE_OIDC_ISSUER: 'https://id.example/',
    SERVICE_OIDC_AUDIENCE: 'api://memory',
    SERVICE_OIDC_ACTOR_TYPE: ' Agent ',
    SERVICES_ALLOWED_HOSTS: 'Gateway.Internal., *.Example.com ,[2001:DB8:0::1],10.0.0.1',
    SERVICES_CORS_ORIGINS: 'https://App.Example.com/, http://localhost:5173,' +
      'https://app.example.com:443,http://[::1]:80',
    SERVICE_ADMIN_TOKEN: 'admin',
    DATABASE_URL: 'postgres://db/main',
    SERVICES_PG_DSN: 'postgres://db/main',
  })
  t.match(config, {
    host: 'localhost',
    port: 0,
    maxBodyBytes: 1_024,
    bounds: boundsOf(),
    allowedHosts: ['gateway.internal', '*.example.com', '2001:db8::1', '10.0.0.1'],
    corsOrigins: ['https://app.example.com', 'http://localhost:5173', 'http://[::1]'],
    healthTimeoutMs: 60_000,
    shutdownTimeoutMs: 1_000,
    drainMs: 0,
    logLevel: 'silent',
    auth: {
      mode: 'jwt_oidc',
      apiKey: 'the-key',
      jwtSecret: 'the-secret',
      jwtAudience: 'memory',
      jwtIssuer: 'issuer',
      oidcJwksUrl: 'https://id.example/keys',
      oidcIssuer: 'https://id.example/',
      oidcAudience: 'api://memory',
      oidcActorType: 'agent',
    },
    adminToken: 'admin',
    database: { url: 'postgres://db/main', variable: 'DATABASE_URL' },
  } satisfies Partial<Config>)
})

await t.test('the auth mode is trimmed, read in any case, and jwt means jwt_hs256', async (t) => {
  const modes = { dev: 'dev', ' API_Key ': 'api_key', jwt: 'jwt_hs256', JWT_HS256: 'jwt_hs256', Jwt_Oidc: 'jwt_oidc' }
  for (const [text, mode] of Object.entries(modes)) t.equal(load({ SERVICE_AUTH_MODE: text }).auth.mode, mode, text)
})

await t.test('a value out of bounds or of another type is a problem that names the allowed values', async (t) => {
  const cases: [string, string, string][] = [
    ['SERVICES_PORT', '65536', 'found "65536", allowed is an integer from 0 to 65535'],
    ['SERVICES_PORT', '-1', 'found "-1", allowed is an integer from 0 to 65535'],
    ['SERVICES_PORT', '0x50', 'found "0x50", allowed is an integer from 0 to 65535'],
    ['SERVICES_PORT', '8e3', 'found "8e3", allowed is an integer from 0 to 65535'],
    ['SERVICES_PORT', '80.0', 'found "80.0", allowed is an integer from 0 to 65535'],
    ['SERVICES_MAX_BODY_BYTES', '1023', 'found "1023", allowed is an integer from 1024 to 10485760'],
    ['SERVICES_MAX_BODY_BYTES', '10485761', 'found "10485761", allowed is an integer from 1024 to 10485760'],
    ['SERVICES_HEALTH_TIMEOUT_MS', '0', 'found "0", allowed is an integer from 1 to 60000'],
    ['SERVICES_SHUTDOWN_TIMEOUT_MS', '999', 'found "999", allowed is an integer from 1000 to 600000'],
    ['SERVICES_SHUTDOWN_TIMEOUT_MS', '600001', 'found "600001", allowed is an integer from 1000 to 600000'],
    [
      'SERVICES_LOG_LEVEL', 'warning',
      'found "warning", allowed are "fatal", "error", "warn", "info", "debug", "trace", "silent"; did you mean "warn"?',
    ],
    [
      'SERVICE_AUTH_MODE', 'jwt-oidc',
      'found "jwt-oidc", allowed are "dev", "api_key", "jwt_hs256", "jwt", "jwt_oidc"; did you mean "jwt_oidc"?',
    ],
    ...[
      'a b', 'host:80', 'http://host', '*', '*.', '*.10.0.0.1', 'a.*.b', 'a,,b', ',', 'user@host', '10.0.0', '[::1',
      'a/b',
    ].map((text): [string, string, string] => (
      [
        'SERVICES_ALLOWED_HOSTS', text,
        `found "${text}", allowed are IP addresses and host names without a port, with commas between them; ` +
          '*.example.com stands for all names below example.com',
      ]
    )),
    ...[
      '*', 'null', 'https://*.example.com', 'app.example.com', 'https://a.example/app', 'https://a.example?x',
      'ws://a.example', 'https://', 'https://a.example,,http://b.example',
    ].map((text): [string, string, string] => (
      [
        'SERVICES_CORS_ORIGINS', text,
        `found "${text}", allowed are origins such as https://app.example.com:8443, without a path or a wildcard, ` +
          'with commas between them',
      ]
    )),
    [
      'SERVICES_CORS_ORIGINS', 'https://user@a.example',
      'found a URL with credentials (not shown), allowed are origins such as https://app.example.com:8443, without a ' +
        'path or a wildcard, with commas between them',
    ],
    ['SERVICE_ALLOW_DEV_AUTH', 'on', 'found "on", allowed are "1", "true", "yes" and "0", "false", "no"'],
    [
      'SERVICE_OIDC_ACTOR_TYPE', 'build bot',
      'found "build bot", allowed is a word of at most 64 visible characters without ":"',
    ],
    ['SERVICE_OIDC_ACTOR_TYPE', 'a:b', 'found "a:b", allowed is a word of at most 64 visible characters without ":"'],
    ['SERVICES_HOST', '127.0.0.1:80', 'found "127.0.0.1:80", allowed is an IP address or a host name, without a port'],
    [
      'SERVICES_HOST', 'http://localhost',
      'found "http://localhost", allowed is an IP address or a host name, without a port',
    ],
    ['SERVICES_HOST', '127.0.0.256', 'found "127.0.0.256", allowed is an IP address or a host name, without a port'],
  ]
  for (const [name, value, rest] of cases) t.same(problems({ [name]: value }), [`${name}: ${rest}`], `${name}=${value}`)
})

await t.test('a variable that is set but empty is a problem, secret or not', async (t) => {
  const names = [
    'SERVICES_HOST', 'SERVICES_PORT', 'SERVICES_CONFIG_PATH', 'SERVICE_AUTH_MODE', 'SERVICE_ALLOW_DEV_AUTH',
    'SERVICE_API_KEY', 'SERVICE_JWT_AUDIENCE', 'SERVICE_OIDC_JWKS_URL', 'DATABASE_URL', 'SERVICE_ADMIN_TOKEN_FILE',
  ]
  for (const name of names) {
    for (const blank of ['', ' \t\n']) {
      t.same(
        problems({ [name]: blank }), [`${name} is set but empty; unset it or give it a value`],
        `${name}=${JSON.stringify(blank)}`,
      )
    }
  }
  t.same(problems({ SERVICES_PORT: undefined }), [], 'undefined is not set')
})

await t.test('a long value is quoted in part and on one line', async (t) => {
  const [problem = ''] = problems({ SERVICES_PORT: `${'9'.repeat(200)}` })
  t.equal(problem, `SERVICES_PORT: found "${'9'.repeat(80)}…", allowed is an integer from 0 to 65535`)
  const [other = ''] = problems({ SERVICES_PORT: 'a\nb\u2028c' })
  t.match(other, 'found "a\\u{a}b\\u{2028}c"')
})

await t.test('the key-set URL must be http or https, have a path and no credentials', async (t) => {
  const faults = {
    'id.example/keys': 'something that is not a URL',
    'file:///etc/keys': 'a URL of another kind',
    'https://id.example': 'a URL without a path',
    'https://id.example/': 'a URL without a path',
    'https://id.example/?keys': 'a URL without a path',
    'https://user:hunter2@id.example/keys': 'a URL with credentials',
    'https://:hunter2@id.example/keys': 'a URL with credentials',
    'https://user@id.example/keys': 'a URL with credentials',
  }
  for (const [url, fault] of Object.entries(faults)) {
    t.same(
      problems({ SERVICE_OIDC_JWKS_URL: url }),
      [`SERVICE_OIDC_JWKS_URL: found ${fault}, allowed is the http or https URL of a key set, with a path and ` +
        'without credentials'],
      url,
    )
  }
  t.same(problems({ SERVICE_OIDC_JWKS_URL: 'http://[::1]:9000/keys?x=1' }), [])
})

await t.test('dev mode listens on loopback addresses only', async (t) => {
  for (const host of [
    '127.0.0.1', '127.255.1.9', '::1', '[::1]', 'LocalHost', '::ffff:127.0.0.5', '0:0:0:0:0:0:0:1', '::1%lo',
  ]) {
    t.same(problems({ SERVICES_HOST: host }), [], host)
  }
  for (const host of [
    '0.0.0.0', '::', '10.0.0.1', 'gateway', '127.evil.example', 'localhost.example', '::ffff:10.0.0.1', 'fe80::1%eth0',
  ]) {
    t.same(
      problems({ SERVICES_HOST: host }),
      [`SERVICES_HOST: found "${host}" with SERVICE_AUTH_MODE dev, which trusts every caller; allowed are a loopback ` +
        'address, another SERVICE_AUTH_MODE, or SERVICE_ALLOW_DEV_AUTH=1'],
      host,
    )
    t.same(problems({ SERVICES_HOST: host, SERVICE_AUTH_MODE: 'api_key' }), [], `${host} in another mode`)
  }
  t.equal(load({ SERVICES_HOST: '[::1]' }).host, '::1', 'without its brackets, as Node listens on it')
})

await t.test('dev mode in public needs SERVICE_ALLOW_DEV_AUTH', async (t) => {
  for (const yes of ['1', 'true', 'YES']) {
    t.same(problems({ SERVICES_HOST: '0.0.0.0', SERVICE_ALLOW_DEV_AUTH: yes }), [], yes)
  }
  for (const no of ['0', 'false', 'no']) {
    t.equal(problems({ SERVICES_HOST: '0.0.0.0', SERVICE_ALLOW_DEV_AUTH: no }).length, 1, no)
  }
})

await t.test('a mode whose own variable is missing starts', async (t) => {
  for (const mode of ['api_key', 'jwt', 'jwt_oidc']) t.same(problems({ SERVICE_AUTH_MODE: mode }), [], mode)
})
