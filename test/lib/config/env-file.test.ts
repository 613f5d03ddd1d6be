import t from 'tap'
import { applyEnvFile, readEnvFile } from '../../../lib/config/env-file.js'
import type { Environment } from '../../../lib/config/environment.js'
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
    'ESCAPED="one\\ntwo"', "LITERAL='$" + "{A}\\n\\'", 'PLAIN=C:\\new $A it\'s "so" # why#', 'TWICE=1', 'TWICE=2',
  ].join('\n')), {
    SERVICES_PORT: '9000',
    SERVICE_AUTH_MODE: 'api_key',
    SERVICE_API_KEY: 'a#b c',
    SINGLE: 'x',
    BACK: 'y',
    EMPTY: '',
    LINES: 'one\n# two\nthree',
    LAST: '1',
    ESCAPED: 'one\ntwo',
    LITERAL: '$' + '{A}\\n\\',
    PLAIN: 'C:\\new $A it\'s "so"',
    TWICE: '2',
  })
})

await t.test('white space in any place neither hides the next variable nor becomes a value', async (t) => {
  for (const text of [
    'A=b\n  \nB=1', 'A=b\r\n  \r\nB=1', 'A=b\n\t\nB=1', 'A=b\n  # note\nB=1', 'A=b\n\t# note\n \n\tB=1',
    'A=b\nexport  B=1', 'A=b\nexport\tB=1', 'A=b\n \texport B\t=\t1\t',
  ]) {
    t.same(read(text), { A: 'b', B: '1' }, JSON.stringify(text))
  }
  for (const text of ['A=\nB=x', 'A= \nB=x', 'A=\t\nB=x', 'A= \r\nB=x', 'A= # note\nB=x', 'A="" \nB=x']) {
    t.same(read(text), { A: '', B: 'x' }, JSON.stringify(text))
  }
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
  t.same(read('TICKETS_SECRET=x\nOPENAI_API_KEY_FILE=y', { TICKETS_SECRET_FILE: '/run/t', OPENAI_API_KEY: 'z' }), {})
})

const HASH = '.env: line 1 has a # in its value: quote the value, or put a space before the # of a comment'
const broken: Array<[text: string, problems: string[]]> = [
  ['SERVICES_PORT 9000', ['.env: line 1 is not of the form NAME=value']],
  ['A=1\nZq-secret\n=x\n1A=2', [2, 3, 4].map((line) => `.env: line ${line} is not of the form NAME=value`)],
  ['A="Zq-secret\nB=1', ['.env: line 1 has a quote without an end']],
  ['A="1"#Zq', ['.env: line 1 has text after its closing quote']],
  ['A="1"Zq-secret', ['.env: line 1 has text after its closing quote']],
  [
    'A="1\n2" Zq-secret\nB',
    ['.env: line 2 has text after its closing quote', '.env: line 3 is not of the form NAME=value'],
  ],
  ['SERVICE_API_KEY=Zq#secret', [HASH]],
  ['SERVICE_API_KEY=#Zq', [HASH]],
  ['SERVICE_API_KEY=Zq\u00a0# why', [HASH]],
  ...['A=Zq\rB=1', 'A=Zq\u0000', 'A=Zq\u00a0', 'A=\u00a0Zq', "A='Zq\u000b'"].map((text): [string, string[]] => (
    [text, ['.env: line 1 has an invisible character in its value']]
  )),
  ['\u00a0A=Zq', ['.env: line 1 is not of the form NAME=value']],
  ...['A="Zq\\\\n"', 'A="C:\\Zq"', 'A="Zq\\t"'].map((text): [string, string[]] => [text, [
    '.env: line 1 has a backslash in double quotes that is not part of \\n: put the value in single quotes',
  ]]),
  ...['A=$' + '{Zq}', 'A="Zq $' + '{B}"', 'A="Zq\n$' + '{B}"'].map((text): [string, string[]] => [text, [
    '.env: line 1 has a $' + '{, which is not replaced here: put the value in single quotes',
  ]]),
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
