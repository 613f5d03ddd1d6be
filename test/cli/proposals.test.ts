import t from 'tap'
import { cliServer } from '../helpers/cli.js'

const file = { banks: { '*': { signal_quality: { proposals: { mode: 'propose' } } } } } as const

t.test('proposals are listed with both texts, accepted, dismissed and taken back', async (t) => {
  const { cli } = await cliServer(t, { file })
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli(args)
    t.equal(code, 0, `${args.join(' ')}: ${stderr}`)
    return { stdout: stdout.trim(), stderr: stderr.trim() }
  }
  t.match((await run('proposals', 'list', 'home')).stderr, /no open proposal.*signal_quality\.proposals\.mode/)
  const rome = (await run('retain', 'home', 'I live in Rome.', '--speaker', 'Ada')).stdout
  const milan = (await run('retain', 'home', 'I live in Milan now.\nIt is warm.', '--speaker', 'Ada')).stdout

  const listed = await run('proposals', 'list', 'home')
  t.equal(listed.stderr, '1 open')
  const [first = '', ...lines] = listed.stdout.split('\n')
  const [id = ''] = first.split(' ')
  t.equal(first, `${id}  place`)
  t.same(lines.map((line) => line.replace(/\d{4}-\d{2}-\d{2}/, 'DATE')), [
    '  newer:  DATE, Ada: I live in Milan now.', '          It is warm.', `          ${milan}`,
    '  older:  DATE, Ada: I live in Rome.', `          ${rome}`,
  ])
  t.match(JSON.parse((await run('proposals', 'list', 'home', '--json')).stdout), {
    proposals: { length: 1, 0: { id, newer: { text: /Milan/ }, older: { text: /Rome/, state: 'current' } } },
  })

  const state = async () => {
    const { stdout } = await run('versions', 'home', rome)
    return stdout.split(' ')[1]
  }
  t.match(await run('proposals', 'accept', 'home', id), { stdout: id, stderr: `accepted: ${rome} is superseded by ` })
  t.equal(await state(), 'superseded')
  t.match((await run('proposals', 'list', 'home', '--state', 'accepted')).stdout, `${id}  place  accepted `)
  const again = await cli(['proposals', 'accept', 'home', id])
  t.match(again, { code: 1, stdout: '', stderr: /^The proposal is accepted already: undo that first \(conflict/ })

  t.match(await run('proposals', 'undo', 'home', id), { stdout: id, stderr: /^open again/ })
  t.equal(await state(), 'current')
  const dismissed = JSON.parse((await run('proposals', 'dismiss', 'home', id, '--json')).stdout)
  t.match(dismissed, { id, state: 'dismissed' })
  t.equal(await state(), 'current')
  t.match((await run('proposals', 'list', 'home', '--state', 'accepted')).stderr, 'no proposal is accepted')
})

t.test('wrong proposals', async (t) => {
  const { cli } = await cliServer(t, { file })
  t.match(await cli(['proposals', 'undo', 'home', 'x']), { code: 1, stderr: /^No such proposal \(not_found/ })
  t.match(await cli(['proposals', 'list', 'home', '--state', 'all']), { code: 2, stderr: /open, accepted, dismissed/ })
  t.match(await cli(['proposals', 'accept', 'home']), { code: 2, stderr: /missing required argument 'proposal'/ })
  t.match(await cli(['proposals']), { code: 2, stderr: /list \[options\] <bank>/ })
})
