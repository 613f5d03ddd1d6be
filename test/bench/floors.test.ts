import { access, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { figuresOf } from '../../bench/recall/figures.js'
import { checkFloor, formatFloors, isSkipped, readFloors } from '../../bench/recall/floors.js'
import { choosePipeline } from '../../bench/recall/pipelines.js'
import { outcome } from './outcomes.js'

const good = figuresOf([outcome()])
const half = figuresOf([outcome({ ranks: [1, Infinity] })])

await t.test('a figure equal to its floor passes, and one below it fails', async (t) => {
  const [result] = checkFloor({ data: 'd.json', at_least: { recall_at_10: 0.5 } }, half)
  t.match(result, { figure: 'recall_at_10', value: 0.5, floor: 0.5, origin: 'recorded', holds: true })
  const results = checkFloor({ data: 'd.json', at_least: { recall_at_10: 0.51, session_recall_at_5: 1 } }, half)
  t.strictSame(results.map(({ holds }) => holds), [false, true])
  t.match(formatFloors(results), /recall_at_10 +0\.5000 +0\.5100 +recorded +BELOW/)
})

await t.test('a pipeline must not be below another one', async (t) => {
  const floor = { data: 'd.json', not_below: { pipeline: 'bm25', figures: ['recall_at_10' as const] } }
  t.match(checkFloor(floor, half, good), [{ value: 0.5, floor: 1, origin: 'bm25', holds: false }])
  t.match(checkFloor(floor, half, half), [{ holds: true }])
  t.match(checkFloor({ ...floor, not_below: { ...floor.not_below, slack: 0.5 } }, half, good), [{
    floor: 0.5, holds: true,
  }])
})

await t.test('sessions have their own floors', async (t) => {
  const figures = figuresOf([outcome({ sessionRanks: [1, 6] }), outcome({ sessionRanks: [2] })])
  const results = checkFloor(
    { data: 'd.json', at_least: { session_hit_at_5: 1, session_all_at_5: 0.51, session_recall_at_5: 0.75 } }, figures,
  )
  t.strictSame(results.map(({ value, holds }) => [value, holds]), [[1, true], [0.5, false], [0.75, true]])
})

await t.test('a floor for a figure that the data do not have always fails', async (t) => {
  const facts = figuresOf([outcome({ sessionRanks: [], sessionScoreRanks: [] })])
  t.match(checkFloor({ data: 'd.json', at_least: { session_recall_at_5: 0 } }, facts), [{ holds: false }])
})

await t.test('the floors of the project can be measured', async (t) => {
  const floors = await readFloors(fileURLToPath(new URL('../../bench/recall/floors.json', import.meta.url)))
  t.strictSame(new Set(floors.filter(({ external }) => external !== true).map(({ data }) => basename(data))), new Set([
    'own-conversation.json', 'own-conversation-2.json', 'own-assistant.json', 'own-facts.json', 'own-notes.json',
    'own-languages.json', 'own-articles.json',
  ]))
  for (const { data, external, not_below: notBelow } of floors) {
    if (external !== true) await access(data)
    if (notBelow !== undefined) await choosePipeline(notBelow.pipeline)
  }
})

await t.test('only external data may be absent', async (t) => {
  const folder = t.testdir({ 'd.json': '[]' })
  const of = (data: string, external?: boolean) => isSkipped({
    data: join(folder, data), ...(external !== undefined && { external }),
  })
  t.strictSame(
    [of('d.json', true), of('none.json', true), of('none.json', false), of('none.json')], [false, true, false, false],
  )
})

await t.test('an unusable file of floors is refused', async (t) => {
  const path = join(t.testdir(), 'floors.json')
  for (const floor of [
    { data: 'd.json', at_least: { recall_at_11: 1 } }, { data: 'd.json', at_least: { mrr: 50 } }, { at_least: {} },
    { data: 'd.json', more: 1 },
  ]) {
    await writeFile(path, JSON.stringify({ floors: [floor] }))
    await t.rejects(readFloors(path), { message: /the file of floors is not as expected/ }, JSON.stringify(floor))
  }
})
