import t from 'tap'
import { runs, SEED } from '../helpers/fast-check.js'
import { DATABASE_URL, freshSchema } from '../helpers/sql-stores.js'
import { BANKS, FILES, ROOT, rounds, tooLoose, type Round } from './changes.js'
import { Model } from './model.js'
import { startReplicas, type Replica } from './replica.js'

/** Reloads the files of a round, makes its changes and waits until both processes agree. */
async function runRound (
  model: Model, replicas: readonly Replica[], { reloads, homes, quiet, changes }: Round, schema: string,
): Promise<void> {
  // Configurations that are equal under one file may differ under another, so none may still be propagating.
  if (reloads.some((file) => file !== undefined)) await model.waitForPropagation()
  for (const [index, file] of reloads.entries()) {
    if (file !== undefined) await replicas[index]!.reload(FILES[file]!, schema)
  }
  // A reloaded file is in force immediately.
  for (const id of BANKS) await model.checkImmediately(replicas[0]!, id)
  for (const id of BANKS) await model.checkImmediately(replicas[1]!, id)
  for (const change of changes) await model.apply(replicas[homes[BANKS.indexOf(change.bank)]!]!, change)
  await model.converge(quiet)
}

/** Tries to loosen each limit of the file. @returns the number of refused changes */
async function countRefusals (model: Model, replicas: readonly Replica[], schema: string): Promise<number> {
  const id = 'team-red'
  await model.waitForPropagation()
  for (const replica of replicas) await replica.reload(FILES[0]!, schema)
  await model.apply(replicas[0]!, {
    bank: id, principal: ROOT, ifMatch: 'absent', action: 'reset', document: {}, removed: [], malformed: undefined,
  })
  const before = model.answerCounts.get('patch 400') ?? 0
  for (const change of tooLoose(id)) await model.apply(replicas[0]!, change)
  return (model.answerCounts.get('patch 400') ?? 0) - before
}

t.test('random changes of banks on two processes follow the rules within two seconds', {
  skip: DATABASE_URL === undefined ? 'TEST_DATABASE_URL is not set' : false,
  timeout: 840_000,
}, async (t) => {
  t.comment(`seed ${SEED}`)
  const schema = freshSchema(t)
  const replicas = await startReplicas(t, schema)
  const model = new Model(t, replicas)
  for (const round of rounds(runs(10, 100), 10, SEED)) await runRound(model, replicas, round, schema)
  for (const id of BANKS) await model.checkHistory(id)
  const refused = await countRefusals(model, replicas, schema)
  t.comment([...model.answerCounts].map(([kind, count]) => `${kind}: ${count}`).sort().join(', '))
  t.comment(`the last answer with a previous state came ${Math.round(model.slowestMs)} ms after a change`)
  for (const status of [200, 400, 403, 412]) {
    t.ok(
      [...model.answerCounts.keys()].some((kind) => kind.endsWith(` ${status}`)),
      `some changes were answered ${status}`,
    )
  }
  t.ok(
    model.answerCounts.has('race 200 412') && model.answerCounts.has('merge 200 200'), 'some changes were concurrent',
  )
  t.equal(refused, tooLoose('team-red').length, 'no limit can be loosened')
})
