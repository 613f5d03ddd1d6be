import t from 'tap'
import { loadConfig } from '../../../lib/config/load.js'
import { load, problems, problemsOf } from './load-with.js'

const SECRETS = ['SERVICE_API_KEY', 'SERVICE_JWT_SECRET', 'SERVICE_ADMIN_TOKEN', 'DATABASE_URL', 'SERVICES_PG_DSN']

await t.test('every secret may come from a file', async (t) => {
  for (const name of SECRETS) {
    const fromFile = load({ [`${name}_FILE`]: '/run/secret' }, { '/run/secret': 'value\n' })
    t.same({ ...fromFile, warnings: [] }, { ...load({ [name]: 'value' }), warnings: [] }, name)
  }
})

await t.test('one trailing line end is removed and all other white space is kept', async (t) => {
  const texts = { 'a b\n': 'a b', 'a\r\n': 'a', 'a\n\n': 'a\n', ' a \n': ' a ', 'a\nb': 'a\nb', 'a\r': 'a\r' }
  for (const [text, secret] of Object.entries(texts)) {
    t.equal(load({ SERVICE_API_KEY_FILE: '/k' }, { '/k': text }).auth.apiKey, secret, JSON.stringify(text))
  }
  t.equal(load({ SERVICE_API_KEY: ' a b\n' }).auth.apiKey, ' a b\n', 'a secret in the variable itself stays as it is')
})

await t.test('a relative path is resolved against the working directory', async (t) => {
  t.equal(load({ SERVICE_API_KEY_FILE: 'secrets/key' }, { '/work/secrets/key': 'k' }).auth.apiKey, 'k')
})

await t.test('a secret in both forms is a problem', async (t) => {
  for (const name of SECRETS) {
    t.same(
      problems({ [name]: 'a', [`${name}_FILE`]: '/k' }, { '/k': 'a' }),
      [`${name} and ${name}_FILE are both set; set one of them`],
    )
  }
})

await t.test('a file that is empty or cannot be read is a problem that does not contain its path', async (t) => {
  for (const text of ['', '\n', '\r\n', '  \n']) {
    t.same(
      problems({ SERVICE_API_KEY_FILE: '/k' }, { '/k': text }),
      ['SERVICE_API_KEY_FILE: found an empty file, allowed is a file that holds the value'],
    )
  }
  t.same(problems({ SERVICE_API_KEY_FILE: '/nowhere' }), ['SERVICE_API_KEY_FILE: found a path that cannot be read ' +
    '(no such file), allowed is a file that holds the value'])
})

await t.test('files on disk are read as strict UTF-8', async (t) => {
  const cwd = t.testdir({ key: 'schlüssel\n', bad: Buffer.from([0x6b, 0xff]), folder: {} })
  t.equal(loadConfig({ SERVICE_API_KEY_FILE: 'key' }, { cwd }).auth.apiKey, 'schlüssel')
  const reasons = {
    bad: 'it is not UTF-8 text',
    folder: 'it is a folder',
    missing: 'no such file',
    'key/x': 'no such file',
    '\0': 'it cannot be read',
  }
  for (const [file, reason] of Object.entries(reasons)) {
    t.match(problemsOf(() => loadConfig({ SERVICE_API_KEY_FILE: file }, { cwd })), [`(${reason})`], file)
  }
})

await t.test('DATABASE_URL and SERVICES_PG_DSN name one database', async (t) => {
  t.strictSame(load({ DATABASE_URL: 'a' }).database, { url: 'a', variable: 'DATABASE_URL' })
  t.strictSame(load({ SERVICES_PG_DSN: 'b' }).database, { url: 'b', variable: 'SERVICES_PG_DSN' })
  t.strictSame(load({ DATABASE_URL: 'a', SERVICES_PG_DSN: 'a' }).database, { url: 'a', variable: 'DATABASE_URL' })
  t.same(
    problems({ DATABASE_URL: 'a', SERVICES_PG_DSN: 'b' }),
    ['DATABASE_URL and SERVICES_PG_DSN are set to different values; set one of them'],
  )
  t.equal(
    problems({ DATABASE_URL_FILE: '/k', SERVICES_PG_DSN: 'b' }, { '/k': 'a' }).length, 1, 'one of them from a file',
  )
})

await t.test('a variable that is not a secret cannot come from a file', async (t) => {
  const { warnings } = load({ SERVICE_JWT_AUDIENCE_FILE: '/k' })
  t.ok(warnings.includes('SERVICE_JWT_AUDIENCE_FILE is not a known variable and is ignored; only a secret may come ' +
    'from a file'))
})
