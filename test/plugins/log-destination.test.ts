import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import pino from 'pino'
import t from 'tap'
import { BatchedLines } from '../../plugins/log-destination.js'

const run = promisify(execFile)
const module = new URL('../../plugins/log-destination.js', import.meta.url).href

/** Keeps lines as SonicBoom does, and shows which were written together. */
function output () {
  const waiting: string[] = []
  const writes: string[][] = []
  const flush = () => { if (waiting.length > 0) writes.push(waiting.splice(0)) }
  return { writes, write: (line: string) => waiting.push(line), flush, flushSync: flush }
}

const nextTurn = async () => { await new Promise((resolve) => { setImmediate(resolve) }) }

t.test('the lines of one turn of the event loop are written together, at its end', async (t) => {
  const destination = output()
  const lines = new BatchedLines(destination)
  lines.write('a')
  lines.write('b')
  t.strictSame(destination.writes, [])
  await nextTurn()
  t.strictSame(destination.writes, [['a', 'b']])
  lines.write('c')
  await nextTurn()
  t.strictSame(destination.writes, [['a', 'b'], ['c']], 'a later line is written in its own turn')
})

t.test('a fatal line is written at once, after the lines before it', async (t) => {
  const destination = output()
  const log = pino(
    { base: null, timestamp: false, formatters: { level: (label) => ({ level: label }) } },
    new BatchedLines(destination),
  )
  log.info('first')
  log.fatal('last')
  t.strictSame(destination.writes, [['{"level":"info","msg":"first"}\n', '{"level":"fatal","msg":"last"}\n']])
})

/** What a program wrote that has the destination as `lines`. */
async function written (program: string): Promise<string> {
  const code = `import { standardOutputLines } from ${JSON.stringify(module)}\nconst lines = ` +
    `standardOutputLines()\n${program}`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code])
  return stdout
}

t.test('no line is lost when the process ends in the turn that logged it', async (t) => {
  t.equal(await written("lines.write('last words\\n'); process.exit(0)"), 'last words\n')
  t.equal(await written("lines.write('last words\\n')"), 'last words\n')
})

t.test('more lines than the buffer holds are written completely and in order', async (t) => {
  const numbers = Array.from({ length: 5000 }, (_, index) => String(index))
  const program = "for (let index = 0; index < 5000; index++) lines.write(index + '\\n'); process.exit(0)"
  t.equal(await written(program), `${numbers.join('\n')}\n`)
})

t.test('a closed output ends the process without a fault', async (t) => {
  const shell = '"$NODE" --input-type=module --eval "$CODE" | head -n 1'
  const code = `
    import { standardOutputLines } from ${JSON.stringify(module)}
    const lines = standardOutputLines()
    let count = 0
    const again = () => { lines.write('line ' + count + '\\n'); if (++count < 20000) setImmediate(again) }
    again()`
  const { stdout, stderr } = await run('bash', ['-o', 'pipefail', '-c', `${shell} || exit 0`], {
    env: { ...process.env, NODE: process.execPath, CODE: code },
  })
  t.equal(stdout, 'line 0\n')
  t.equal(stderr, '')
})
