import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const MODULE = new URL('../../../dist/lib/ranking/date-parser.js', import.meta.url).href
/** The expressions that take milliseconds to compile have 80 to 230 KB of machine code, the others up to 30 KB. */
const LONG_CODE = 50_000

/** The bytes of machine code of each regular expression that V8 compiles for a text after the parser is loaded. */
function compiledFor (text: string, folder: string): number[] {
  const source = `import { loadDateParser, parseDates } from ${JSON.stringify(MODULE)}
    loadDateParser()
    for (let time = 0; time < 3; time++) /the parser is loade\\d/.test('the parser is loade1')
    parseDates(${JSON.stringify(text)}, 0)
    parseDates(${JSON.stringify(text)}, 0)`
  const log = join(folder, 'v8.log')
  const { status, stderr } = spawnSync(process.execPath, [
    '--log-code', `--logfile=${log}`, '--no-logfile-per-isolate', '--input-type=module', '--eval', source,
  ], { env: {}, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const lines = readFileSync(log, 'utf8').split('\n').filter((line) => line.startsWith('code-creation,RegExp,'))
  const start = lines.findIndex((line) => line.includes('the parser is loade'))
  if (start === -1) throw new Error('the log has no regular expression of this test')
  return lines.slice(start).map((line) => Number(line.split(',')[5]))
}

for (const [what, text] of [
  ['Latin letters', 'what did we do last Tuesday'],
  ['other letters', 'what did we do last Tuesday \u2013 \u4f60\u597d'],
]) {
  t.test(`no expression of the loaded parser is compiled for a text with ${what}`, async (t) => {
    const sizes = compiledFor(text!, t.testdir())
    t.ok(sizes.length > 0)
    t.same(sizes.filter((bytes) => bytes > LONG_CODE), [])
  })
}
