import { join } from 'node:path'
import { consoleTest, signInAs } from '../browser.js'

const PROVIDER = join(process.cwd(), 'test/fixtures/concept-embeddings.mjs')

consoleTest('a bank shows how many of its memories have a vector', {
  yaml: `embedding_provider: "${PROVIDER}:ConceptEmbeddings"`,
}, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  await page.goto(url('banks?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByText('100 % of the memories have a vector of the model.').waitFor()
  await page.getByText('No memory is waiting for one.').waitFor()
  t.equal(await page.getByRole('meter').getAttribute('value'), '1')
})
