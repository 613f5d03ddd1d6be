import t from 'tap'
import { testApp } from '../helpers/app.js'
import { dedupConfig, NEAR_DUPLICATE, retain, retainBatch, TEXT } from './retain-dedup-support.js'

t.test('a text is a near-duplicate from the threshold on', async (t) => {
  for (const [threshold, stored] of [[0, false], [0.5, false], [0.99, true], [1, true]] as const) {
    const home = await testApp(t, { file: dedupConfig('skip', threshold) })
    await home.retain('home', TEXT)
    t.equal((await retain(home, NEAR_DUPLICATE)).stored, stored, String(threshold))
    t.equal(
      (await retain(home, 'Bob parked the car.')).stored, true,
      'a text without a common word is not a near-duplicate at any threshold',
    )
  }
  const home = await testApp(t, { file: dedupConfig('skip', 1) })
  await home.retain('home', TEXT)
  t.equal((await retain(home, `${TEXT}!`)).near_duplicate?.similarity, 1, 'the same words reach a threshold of 1')
})

const DIFFERENCES: Record<string, [string, string]> = {
  'another number': [`${TEXT} at 7`, `${TEXT} at 8`],
  'an additional number': [TEXT, `${TEXT} 2`],
  'another number as a word': [`${TEXT} with two friends`, `${TEXT} with three friends`],
  'a negation': [TEXT.replace('drinks', 'does drink'), TEXT.replace('drinks', 'does not drink')],
  'a contracted negation': [TEXT.replace('drinks', 'does drink'), TEXT.replace('drinks', 'doesn’t drink')],
  never: [TEXT, TEXT.replace('Alice drinks', 'Alice never drinks')],
  'the roles of two people': [
    'Last summer Alice lent Bob her favourite red bicycle in Lyon',
    'Last summer Bob lent Alice her favourite red bicycle in Lyon',
  ],
}

for (const [what, [existing, added]] of Object.entries(DIFFERENCES)) {
  t.test(`texts that differ by ${what} are not near-duplicates`, async (t) => {
    const home = await testApp(t, { file: dedupConfig('skip', 0.5) })
    await home.retain('home', existing)
    const answer = await retain(home, added)
    t.equal(answer.stored, true)
    t.notOk('near_duplicate' in answer)
  })
}

t.test('a negation and its contraction are equal', async (t) => {
  const home = await testApp(t, { file: dedupConfig('skip') })
  await home.retain('home', TEXT.replace('drinks', 'does not drink'))
  t.equal((await retain(home, TEXT.replace('drinks', 'doesn\'t drink'))).stored, false)
})

t.test('a memory of another document is not a near-duplicate', async (t) => {
  const home = await testApp(t, { file: dedupConfig('skip') })
  await home.retain('home', TEXT, { document_id: 'monday' })
  t.equal((await retain(home, NEAR_DUPLICATE, { document_id: 'tuesday' })).stored, true)
  t.equal((await retain(home, NEAR_DUPLICATE)).stored, true, 'nor is a memory without a document')
  t.equal((await retain(home, `${TEXT} begin`, { document_id: 'monday' })).stored, false)
})

t.test('a text of stop words only is not a near-duplicate', async (t) => {
  const home = await testApp(t, { file: dedupConfig('skip', 0) })
  await home.retain('home', 'Who is this?')
  t.equal((await retain(home, 'What is that?')).stored, true)
})

t.test('a batch of 1,000 different items is stored', async (t) => {
  const home = await testApp(t, { file: dedupConfig('skip') })
  const answers = await retainBatch(home, Array.from({ length: 1000 }, (_, index) => (
    `the common word and ${'x'.repeat(index % 40 + 1)}${index}`
  )))
  t.equal(answers.filter(({ stored }) => stored).length, 1000)
})

t.test('a near-duplicate is found however many other documents have the same words', async (t) => {
  const home = await testApp(t, { file: dedupConfig('skip') })
  for (let index = 0; index < 30; index++) await home.retain('home', TEXT, { document_id: `document ${index}` })
  for (const more of [{ document_id: 'mine' }, {}]) {
    const id = await home.retain('home', TEXT, more)
    const answer = await retain(home, NEAR_DUPLICATE, more)
    t.strictSame([answer.stored, answer.near_duplicate?.memory_id], [false, id])
  }
})
