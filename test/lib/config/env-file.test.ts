import t from 'tap'
import { applyEnvFile, readEnvFile } from '../../../lib/config/env-file.js'
import type { Environment } from '../../../lib/config/load.js'
import { problemsOf } from './load-with.js'

const fault = (code: string) => Object.assign(new Error(`${code}: /work/.env`), { code })

function read (text: string, environment: Environment = {}): Record<string, string> | undefined {
  return readEnvFile('/work', environment, (path) => {
    if (path !== '/work/.env') throw fault('ENOENT')
    return text
  })
}

await t.test('.env adds its variables, in each form of a value', async (t) => {
  t.same(read([
    '\uFEFF# a comment', '', 'SERVICES_PORT=9000', '  SERVICE_AUTH_MODE = api_key   # why',
    'export SERVICE_API_KEY="a#b c"',
    "SINGLE='x'", 'BACK=`y`', 'EMPTY=', 'LINES="one', '# two', 'three" # end', 'LAST=1\r', '',
  ].join('\n')), {
    SERVICES_PORT: '9000',
    SERVICE_AUTH_MODE: 'api_key',
    SERVICE_API_KEY: 'a#b c',
    SINGLE: 'x',
    BACK: 'y',
    EMPTY: '',
    LINES: 'one\n# two\nthree',
    LAST: '1',
  })
})

await t.test('without .env nothing is added', async (t) => {
  t.equal(readEnvFile('/work', {}, () => { throw fault('ENOENT') }), undefined)
  const environment = { A: '1' }
  t.equal(applyEnvFile(environment, '/nowhere/at/all'), false)
  t.same(
    problemsOf(() => applyEnvFile(environment, '/nowhere/at/all', 'my.env')), ['my.env cannot be read (no such file)'],
    'a named file must exist',
  )
  t.same(environment, { A: '1' })
})

await t.test('variables of the real environment win, in each form of the same setting', async (t) => {
  t.same(read('A=1\nB=2', { A: 'real' }), { B: '2' })
  t.same(read('A=1', { A: '' }), {}, 'an empty file exists')
  t.same(read('DATABASE_URL=x', { DATABASE_URL_FILE: '/run/url' }), {})
  t.same(read('DATABASE_URL_FILE=/run/url', { DATABASE_URL: 'x' }), {})
  t.same(read('DATABASE_URL=x', { SERVICES_PG_DSN: 'y' }), {})
  t.same(read('SERVICES_PG_DSN_FILE=/x', { DATABASE_URL_FILE: '/y' }), {})
  t.same(
    read('SERVICE_API_KEY=x\nSERVICES_HOST=::1', { SERVICE_API_KEY_FILE: '/run/key', SERVICES_HOST_FILE: 'no secret' }),
    { SERVICES_HOST: '::1' },
  )
})

const broken: Array<[text: string, problems: string[]]> = [
  ['SERVICES_PORT 9000', ['.env: line 1 is not of the form NAME=value']],
  ['A=1\nZq-secret\n=x\n1A=2', [2, 3, 4].map((line) => `.env: line ${line} is not of the form NAME=value`)],
  ['A="Zq-secret\nB=1', ['.env: the quote that begins in line 1 has no end']],
  ['A="1"Zq-secret', ['.env: line 1 has text after its closing quote']],
  [
    'A="1\n2" Zq-secret\nB',
    ['.env: line 2 has text after its closing quote', '.env: line 3 is not of the form NAME=value'],
  ],
  [
    'SERVICE_API_KEY=Zq#secret',
    ['.env: line 1 has a # in its value: quote the value, or put a space before the # of a comment'],
  ],
]
for (const [text, problems] of broken) {
  await t.test(`a broken .env ends the start and shows nothing of its lines: ${JSON.stringify(text)}`, async (t) => {
    const found = problemsOf(() => read(text))
    t.same(found, problems)
    t.notMatch(found.join(), /Zq/)
  })
}

await t.test('a .env that cannot be read ends the start', async (t) => {
  for (const [code, reason] of [
    ['EISDIR', 'it is a folder'], ['EACCES', 'permission denied'],
    ['ERR_ENCODING_INVALID_ENCODED_DATA', 'it is not UTF-8 text'],
  ] as const) {
    t.same(
      problemsOf(() => readEnvFile('/work', {}, () => { throw fault(code) })),
      [`.env in the working directory cannot be read (${reason})`],
    )
  }
})
