import t, { type Test } from 'tap'
import { TextAnalyzer } from '../../../lib/memory/text-analyzer.js'
import type { TextJob } from '../../../lib/memory/text-jobs.js'
import { TextThread } from '../../../lib/memory/text-thread.js'
import { until } from '../../helpers/waiting.js'

const JOB: TextJob = { kind: 'split', texts: ['The ferry leaves at nine.'], maxCharacters: 100 }
/** Makes the thread throw, as a fault in its program would. */
const FAILING = { kind: 'split', texts: [undefined], maxCharacters: 100 } as unknown as TextJob

function makeThread (t: Test, options: Partial<ConstructorParameters<typeof TextThread>[0]> = {}) {
  const warnings: string[] = []
  let now = 0
  const thread = new TextThread({
    warn: (message) => { warnings.push(message) }, timer: () => now, processors: 2, ...options,
  })
  t.teardown(async () => { await thread.close() })
  return { thread, warnings, pass: (ms: number) => { now += ms } }
}

t.test('a thread works once it is started, and starts once', async (t) => {
  const { thread, warnings } = makeThread(t)
  t.equal(await thread.run(JOB, 'ada'), undefined)
  await Promise.all([thread.start(), thread.start()])
  t.match(await thread.run(JOB, 'ada'), [[{ start: 0, end: 25 }]])
  t.same(warnings, [])
})

t.test('callers take turns', async (t) => {
  const { thread, pass } = makeThread(t)
  await thread.start()
  const done: string[] = []
  const run = async (caller: string) => {
    await thread.run(JOB, caller)
    done.push(caller)
    pass(1)
  }
  await Promise.all([run('ada'), run('ada'), run('ada'), run('bob')])
  t.same(done, ['ada', 'bob', 'ada', 'ada'])
})

t.test('a lost thread is reported without the text, and replaced after a minute', async (t) => {
  const { thread, warnings, pass } = makeThread(t)
  await thread.start()
  const results = [thread.run(FAILING, 'ada'), thread.run(JOB, 'ada'), thread.run(JOB, 'bob')]
  t.same(await Promise.all(results), [undefined, undefined, undefined])
  t.same(warnings, [
    'The thread that analyzes long texts was lost (TypeError); the event loop does its work for a minute',
  ])
  await thread.start()
  t.equal(thread.isReady, false)
  pass(60_000)
  await thread.start()
  t.not(await thread.run(JOB, 'ada'), undefined)
})

t.test('a thread that cannot start is reported once', async (t) => {
  const { thread, warnings } = makeThread(t, { execArgv: ['--import', 'data:text/javascript,throw new RangeError()'] })
  await thread.start()
  t.equal(await thread.run(JOB, 'ada'), undefined)
  await thread.close()
  t.same(warnings, [
    'The thread that analyzes long texts was lost (RangeError); the event loop does its work for a minute',
  ])
})

t.test('a job that cannot be cloned loses no thread', async (t) => {
  const { thread, warnings } = makeThread(t)
  await thread.start()
  t.equal(await thread.run({ ...JOB, texts: [() => {}] } as unknown as TextJob, 'ada'), undefined)
  t.not(await thread.run(JOB, 'ada'), undefined)
  t.same(warnings, [])
})

t.test('what a lost thread has not done is done on the event loop', async (t) => {
  const { thread } = makeThread(t)
  const analyzer = new TextAnalyzer({
    start: async () => { await thread.start() },
    run: async (_job, caller) => await thread.run(FAILING, caller),
    close: async () => { await thread.close() },
  })
  const text = 'The ferry leaves at nine. '.repeat(1000).trim()
  const [passages] = await analyzer.split([text], 1000, 'ada')
  t.equal(passages!.at(-1)!.end, text.length)
})

t.test('a thread without work ends, and another one follows it', async (t) => {
  const { thread, warnings } = makeThread(t, { idleMs: 0 })
  await thread.start()
  await until(() => !thread.isReady)
  t.equal(await thread.run(JOB, 'ada'), undefined)
  await thread.start()
  t.not(await thread.run(JOB, 'ada'), undefined)
  t.same(warnings, [])
})

t.test('with one processor there is no thread', async (t) => {
  const { thread } = makeThread(t, { processors: 1 })
  await thread.start()
  t.equal(thread.isReady, false)
})

t.test('a thread that is closed while it starts or works ends without a warning', async (t) => {
  const starting = makeThread(t)
  const started = starting.thread.start()
  await starting.thread.close()
  await started
  t.equal(starting.thread.isReady, false)
  const working = makeThread(t)
  await working.thread.start()
  const results = [working.thread.run(JOB, 'ada'), working.thread.run(JOB, 'ada')]
  await working.thread.close()
  t.equal((await Promise.all(results)).at(-1), undefined)
  await working.thread.start()
  t.equal(working.thread.isReady, false)
  t.same([...starting.warnings, ...working.warnings], [])
})
