import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { cliServer } from '../helpers/cli.js'

t.test('a fact is replaced by its key, corrected, retired, restored, and the bank set back', async (t) => {
  const { cli, clock } = await cliServer(t)
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli(args)
    t.equal(code, 0, `${args.join(' ')}: ${stderr}`)
    return stdout.trim()
  }
  const from = ['--valid-from', '2020-01-01T00:00:00Z']
  const rome = await run('retain', 'ada', 'Ada lives in Rome.', '--key', 'ada/home', ...from)
  const before = new Date(clock()).toISOString()
  clock.advance(60_000)
  const milan = await run('retain', 'ada', 'Ada lives in Milan.', '--key', 'ada/home')
  t.match(await run('versions', 'ada', rome), /^2 superseded \(.*\): Ada lives in Rome\.\n1 current /)
  t.match(await run('recall', 'ada', 'Where does Ada live?', '--state', 'history', '--json'), rome)
  const edit = ['--content', 'Ada lives in Milano.', '--reason', 'spelling', '--if-version', '1']
  t.match(await run('edit', 'ada', milan, ...edit), milan)
  const late = await cli(['edit', 'ada', milan, '--content', 'x', '--if-version', '1'])
  t.equal(late.code, 1)
  t.equal((await cli(['edit', 'ada', milan])).code, 2, 'there is nothing to change')
  await run('retire', 'ada', milan, '--reason', 'invalidated', '--note', 'a mistake')
  t.match(await run('versions', 'ada', milan), /3 retired \(.*invalidated: a mistake\): Ada lives in Milano\./)
  await run('restore', 'ada', milan)
  t.match(await run('rollback', 'ada', before, '--dry-run'), '1 would be restored, 1 would be retired')
  t.equal(await run('rollback', 'ada', before), '1 restored, 1 retired, 0 cannot be recovered')
  t.match(await run('recall', 'ada', 'Where does Ada live?', '--json'), 'Ada lives in Rome.')
})

t.test('an export with versions is imported in small batches, none of which parts a memory from them', async (t) => {
  const { cli } = await cliServer(t)
  const folder = await mkdtemp(join(tmpdir(), 'versions-'))
  t.teardown(async () => { await rm(folder, { recursive: true }) })
  const stored = (await cli(['retain', 'ada', 'Ada likes tea.'])).stdout.trim()
  for (const text of ['Ada likes green tea.', 'Ada likes mint tea.']) {
    await cli(['edit', 'ada', stored, '--content', text])
  }
  await cli(['retain', 'ada', 'Ada has a dog.'])
  const exported = (await cli(['export', 'ada', '--versions'])).stdout
  t.equal(exported.trim().split('\n').length, 5)
  await writeFile(join(folder, 'ada.ndjson'), exported)
  const imported = await cli(['import', 'copy', join(folder, 'ada.ndjson')])
  t.equal(imported.code, 0, imported.stderr)
  const versions = async (bank: string) => (await cli(['versions', bank, stored])).stdout
  t.equal(await versions('copy'), await versions('ada'))
})
