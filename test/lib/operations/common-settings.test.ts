import t from 'tap'
import type { BankConfiguration, FileConfig } from '../../../lib/config/schema.js'
import { settingsOf } from '../../../lib/config/config.js'
import { commonSettings, readFileSettings, resolveBank } from '../../../lib/operations/bank-directory.js'

/** The weights of the strategies in a request on banks with these configurations. */
function weightsOf (file: FileConfig, ...banks: BankConfiguration[]) {
  const settings = readFileSettings({ file, settings: settingsOf(file) }, {
    semanticWeight: 1, hasReranker: false, canExtract: false,
  })
  return commonSettings(
    banks.map((own, index) => resolveBank({ tenantId: null, bankId: `b${index}` }, own, settings)), settings,
  ).retrieval.weights
}

const weights = (lexical: number, semantic: number): BankConfiguration => ({
  retrieval: { weights: { lexical, semantic } },
})
const LEXICAL_OFF: FileConfig = { retrieval: { weights: { lexical: 0, semantic: 1 } } }

t.test('banks with the same settings use those', async (t) => {
  t.same(weightsOf({}, weights(2, 3), weights(2, 3)), { lexical: 2, semantic: 3 })
})

t.test('banks with different settings use those of the file', async (t) => {
  t.same(weightsOf({}, weights(2, 3), weights(4, 5)), { lexical: 1, semantic: 1 })
})

t.test('the semantic strategy is off when one of the banks has it off, at any position of the list', async (t) => {
  for (const banks of [[weights(2, 0), {}], [{}, weights(2, 0)], [weights(1, 5), weights(2, 0), weights(3, 0)]]) {
    t.same(weightsOf({}, ...banks), { lexical: 1, semantic: 0 })
  }
})

t.test('it is also off when the file has no lexical strategy, because that bank has one', async (t) => {
  for (const banks of [[weights(2, 0), {}], [{}, weights(2, 0)], [{}, weights(2, 0), weights(0, 5)]]) {
    t.same(weightsOf(LEXICAL_OFF, ...banks), { lexical: 2, semantic: 0 })
  }
  t.same(
    weightsOf(LEXICAL_OFF, { ...weights(2, 0), reflect: { max_evidence: 1 } }, weights(2, 0)),
    { lexical: 2, semantic: 0 }, 'also when both have it off and differ in something else',
  )
})

t.test('the semantic strategy stays on when no bank has it off', async (t) => {
  t.same(weightsOf(LEXICAL_OFF, weights(2, 3), {}), { lexical: 0, semantic: 1 })
})
