// Runs tests with tap. docs/development.md describes when to run which of them.
//   node scripts/test.mjs [--jobs N] [FILE or FOLDER…]   all tests but the slow ones, or the named ones
//   node scripts/test.mjs --all                          the slow ones too
//   node scripts/test.mjs --browser [FILE or FOLDER…]    tests that use a browser; they fail without Chromium
//   node scripts/test.mjs --long [FILE or FOLDER…]       all tests, with a new seed and more cases of every property
import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { t } from 'tap'
import { build, buildClient } from './build.mjs'
import { compileTests, TARGET } from './compile-tests.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
// Far longer than any file takes on an idle machine, because it only ends tests that hang.
const TIMEOUT_SECONDS = 900
const GROUP_FILES = 12
const GROUP_TIMEOUT_SECONDS = 2400
const MAX_JOBS = 4
/** Each has a browser of several processes. */
const MAX_BROWSER_JOBS = 2
const SLOWEST_SHOWN = 30

// What a file needs is in its name, or in that of its folder.
/** A process of its own, because it starts servers or changes what belongs to the process. */
const ALONE = /^test\/blackbox\/|\.alone\.test\.ts$/
const BROWSER = /^test\/console\/browser\//
/** Nothing else at the same time, because it measures response times. */
const TIMED = /\.timed\.test\.ts$/
/** A database. Files that share a process share one. */
const DATABASE = /^test\/lib\/stores\/sql\/|\.database\.test\.ts$/
/** Slow files and folders, which run when they are named, with --all and with --long. .ci/full runs them. */
const SLOW = [
  ...['access', 'lists', 'recall', 'reflect', 'retain', 'settings'].map(
    (name) => `packages/hindsight/test/${name}.test.ts`
  ),
  'test/attack', 'test/fuzz', 'test/generators', 'test/lib/stores/sql/pooler-contract.test.ts',
  'test/ops/failover.alone.test.ts', 'test/ops/haproxy.alone.test.ts', 'test/replicas',
  ...['examples', 'limits', 'newcomer', 'package', 'races', 'reembed', 'refusals', 'start-report'].map(
    (name) => `test/blackbox/${name}.test.ts`
  ),
]

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string' },
    all: { type: 'boolean', default: false },
    browser: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
  },
})

/** Whether the path is one of the files or in one of the folders. */
const isIn = (path, places) => places.some((place) => path === place || path.startsWith(`${place}/`))

function select (paths) {
  const wanted = positionals.map((path) => relative(ROOT, join(process.cwd(), path)))
  const all = paths.filter((path) => path.endsWith('.test.ts') && BROWSER.test(path) === options.browser)
  const files = all.filter((path) => wanted.length === 0 || isIn(path, wanted))
  const missing = [
    ...wanted.filter((place) => !files.some((path) => isIn(path, [place]))),
    ...SLOW.filter((place) => !paths.some((path) => isIn(path, [place]))),
  ]
  if (missing.length > 0) {
    console.error(`There is no test in ${missing.join(', ')}`)
    process.exit(1)
  }
  const isWhole = options.all || options.long || wanted.length > 0
  return isWhole ? files : files.filter((path) => !isIn(path, SLOW))
}

/** Deals the files to groups of a dozen, because each process loads the program and its libraries once. */
function deal (files) {
  const groups = Array.from({ length: Math.ceil(files.length / GROUP_FILES) }, () => [])
  // One after the other, so that the slow files of a folder are in several groups.
  files.forEach((file, index) => { groups[index % groups.length].push(file) })
  return groups
}

function group (files) {
  const own = files.filter((file) => options.browser || ALONE.test(file))
  const shared = files.filter((file) => !own.includes(file))
  return [
    // These take the longest and come first, so that none of them runs alone at the end.
    ...own.map((file) => [file]),
    ...deal(shared.filter((file) => DATABASE.test(file))),
    ...deal(shared.filter((file) => !DATABASE.test(file))),
  ]
}

const isInCi = ![undefined, '', '0', 'false'].includes(process.env.CI)
/** Whether the random tests get new cases in this run. Otherwise their cases are the same in every run. */
const hasNewSeed = options.long || process.env.TEST_SEED !== undefined || isInCi

/** Environment of the tests. */
function environment () {
  const env = {
    TAP_TIMEOUT: String(TIMEOUT_SECONDS),
    ...(options.long && { TEST_LONG: '1' }),
    ...(options.browser && { TEST_BROWSER: 'required' }),
  }
  if (!hasNewSeed) return env
  const seed = String(process.env.TEST_SEED ?? randomInt(2 ** 31))
  console.log(`# seed ${seed}: TEST_SEED=${seed} npm ${options.long ? 'run test:long' : 'test'} repeats the random ` +
    'cases of this run')
  return { ...env, TEST_SEED: seed }
}

// This is done before the build, because the timeout of tap begins with its import.
t.setTimeout(0)
if (!build() || !await buildClient()) process.exit(1)
const groups = group(select(await compileTests()))
const env = environment()
/** Duration in seconds and outcome of each file that has ended. */
const ended = new Map()

const maxJobs = Math.min(options.browser ? MAX_BROWSER_JOBS : MAX_JOBS, availableParallelism())
t.jobs = Math.max(1, Number(options.jobs ?? maxJobs))
const isTimed = (files) => files.some((file) => TIMED.test(file))
const run = async (files) => {
  const alone = files.length === 1
  const name = alone ? files[0] : `files ${files[0]} … ${files.at(-1)}`
  const program = alone ? [join(TARGET, name.replace(/\.ts$/, '.js'))] : [join(ROOT, 'scripts/test-files.mjs')]
  const running = t.spawn(process.execPath, ['--enable-source-maps', ...program], {
    name,
    cwd: ROOT,
    env: { ...process.env, ...env, ...(!alone && { TEST_FILES: JSON.stringify(files) }) },
    timeout: (alone ? TIMEOUT_SECONDS : GROUP_TIMEOUT_SECONDS) * 1000,
    buffered: t.jobs > 1,
    stdio: 'inherit',
  })
  const note = (file, { ok, time }) => { ended.set(file, { ok, seconds: (time ?? 0) / 1000 }) }
  if (!alone) {
    running.subtest?.parser.on('child', (child) => { child.on('complete', (results) => { note(child.name, results) }) })
  }
  const results = await running
  if (alone) note(name, results ?? { ok: false })
}
for (const files of groups.filter(isTimed)) await run(files)
await Promise.all(groups.filter((files) => !isTimed(files)).map(run))

const files = groups.flat()
const failed = files.filter((file) => ended.get(file)?.ok !== true)
t.teardown(() => {
  const slowest = [...ended].sort(([, one], [, other]) => other.seconds - one.seconds).slice(0, SLOWEST_SHOWN)
  console.log(`# slowest: ${slowest.map(([file, { seconds }]) => `${file} ${seconds.toFixed(1)} s`).join(', ')}`)
  for (const file of failed) console.log(`# failed: ${file}`)
  console.log(`# test files: ${files.length - failed.length} passed, ${failed.length} failed`)
})
