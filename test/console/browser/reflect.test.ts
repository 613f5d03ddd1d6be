import type { Page } from 'playwright-core'
import type { FileConfig } from '../../../lib/config/schema.js'
import { failsInTheMiddle, hangUp, piecemeal, says } from '../../helpers/language-server.js'
import { consoleTest, hasCount, hasNoViolation, signInAs } from '../browser.js'
import { GatewayWithModel } from '../servers.js'

const HOSTILE = '<img src=x onerror=alert(1)><script>alert(2)</script> https://evil.example/ pay\u200bpal \u202egnp'

const gateway = new GatewayWithModel()
const withModelAnd = (escalation: NonNullable<FileConfig['escalation']>) => ({
  start: gateway.startWith({ prices: { remote: { input: 1000, output: 2000 } }, escalation }),
})
const withModel = withModelAnd({})

async function ask (page: Page, question: string): Promise<void> {
  await page.getByLabel('Question', { exact: true }).fill(question)
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
}

const answerOf = (page: Page) => page.getByRole('region', { name: 'Answer', exact: true })
const sourcesOf = (page: Page) => page.getByRole('region', { name: 'Sources', exact: true })

consoleTest('an answer is streamed, and marks highlight their sources', withModel, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-alice', content: 'Alice lives in Lyon.' })
  await client().retain({ bank_id: 'user-alice', content: `Alice lives near a bakery. ${HOSTILE}` })
  const { behaviour, say, finish } = piecemeal()
  gateway.model.next(behaviour)
  await page.goto(url('reflect?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByText('Ask something that the memories').waitFor()
  await hasNoViolation(t, page, 'no question yet')
  await ask(page, 'Where does Alice live?')
  await answerOf(page).getByText('Writing the answer').waitFor()
  await sourcesOf(page).getByText('2 memories were looked at').waitFor()
  t.equal(await page.getByRole('list', { name: 'Cited', exact: true }).count(), 0, 'nothing is cited yet')
  say('Alice lives in Lyon. [1] ')
  say('There is a <b>bakery</b> \u202e near. [2] Both [1, 2] say so. ')
  say('So much.')
  await answerOf(page).getByText('near. [2]').waitFor()
  await answerOf(page).getByText('Writing the answer').waitFor()
  t.equal(await page.locator('.reflect-citation').count(), 0, 'a mark names no source before the last one is known')
  finish()
  await answerOf(page).getByText(/Tokens/).waitFor()
  const cited = page.getByRole('list', { name: 'Cited', exact: true }).getByRole('listitem')
  t.match(await cited.allTextContents(), [/^\[1\].*Alice lives in Lyon/, /^\[2\].*bakery/])
  await answerOf(page).getByText(/in the currency of the configured prices/).waitFor()

  const mark = answerOf(page).getByRole('button', { name: 'Source [2]' }).first()
  const highlighted = page.locator('.reflect-source.highlighted')
  t.equal(await highlighted.count(), 0)
  await mark.hover()
  t.match(await highlighted.textContent(), /\[2\]/, 'the pointer on a citation highlights its source')
  await page.mouse.move(0, 0)
  await highlighted.waitFor({ state: 'detached' })
  await mark.focus()
  t.match(await highlighted.textContent(), /\[2\]/, 'and so does the focus')
  await page.keyboard.press('Enter')
  const source = sourcesOf(page).getByRole('button', { name: 'Source [2]: cited 2 times' })
  t.ok(await source.evaluate((element) => element.matches(':focus')), 'Enter goes to the source')
  await hasCount(
    t, page.locator('.reflect-answer .reflect-citation.highlighted'), 2, 'a source highlights all of its citations',
  )
  await hasNoViolation(t, page, 'an answer with a lit source')
  await page.keyboard.press('Enter')
  t.ok(await mark.evaluate((element) => element.matches(':focus')), 'and back to the first mark')
  t.equal(await page.locator('main script, main img, main b, iframe').count(), 0)
  t.equal(await page.locator('main a[href^="http"]:not([href*="/console/"])').count(), 0)
  t.notMatch(page.url(), /live/, 'the question is not in the URL')
})

consoleTest('a failure in the middle of an answer is shown', withModel, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-alice', content: 'Alice lives in Lyon.' })
  gateway.model.next(failsInTheMiddle('server_error', 'Alice lives in Lyon. [1] ', 'And then '))
  await page.goto(url('reflect?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await ask(page, 'Where does Alice live?')
  await answerOf(page).getByText('The answer was interrupted').waitFor()
  await answerOf(page).getByRole('alert').getByText('dependency_unavailable', { exact: true }).waitFor()
  await answerOf(page).getByText('Alice lives in Lyon. [1]').waitFor()
  await hasNoViolation(t, page, 'an answer that broke off')
})

consoleTest('an answer can be cancelled, and another question asked', withModel, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-alice', content: 'Alice lives in Lyon.' })
  const { behaviour, say } = piecemeal()
  gateway.model.next(behaviour, says('Only Lyon.', { finish: 'length' }))
  await page.goto(url('reflect?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await ask(page, 'Where does Alice live?')
  say('Alice lives in Lyon. [1] ')
  say('She ')
  await answerOf(page).getByText('[1]').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await answerOf(page).getByText('Cancelled: the answer above is incomplete').waitFor()
  t.ok(await page.getByRole('button', { name: 'Cancel' }).isDisabled())
  await ask(page, 'Where does Alice live now?')
  await answerOf(page).getByText('Unverified.').waitFor()
  await answerOf(page).getByText('Cut.').waitFor()
})

consoleTest('an answer that is not complete is left only after a question', {
  ...withModel, onBeforeUnload: 'stay',
}, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-alice', content: 'Alice lives in Lyon.' })
  const [first, second] = [piecemeal(), piecemeal()]
  gateway.model.next(first.behaviour, second.behaviour)
  await page.goto(url('memories?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByRole('link', { name: 'Ask' }).click()
  await ask(page, 'Where does Alice live?')
  first.say('Alice lives in Lyon. [1] ')
  first.say('She ')
  await answerOf(page).getByText('[1]').waitFor()
  const question = page.getByRole('dialog', { name: 'Stop the answer?' })
  const goBack = async () => { await page.evaluate('history.back()') }
  for (const leave of [goBack, async () => { await page.getByRole('link', { name: 'Access' }).click() }]) {
    await leave()
    await question.getByText('The answer is not complete yet.').waitFor()
    await hasNoViolation(t, page, 'the question')
    await question.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL(/reflect\?bank=user-alice$/)
  }
  const [dialog] = await Promise.all([
    page.waitForEvent('dialog'), page.evaluate('void setTimeout(() => { location.reload() })'),
  ])
  t.equal(dialog.type(), 'beforeunload')
  await page.getByRole('link', { name: 'Ask' }).click()
  t.equal(await question.isVisible(), false, 'the page stays, and so does the answer')
  await goBack()
  await page.waitForURL(/reflect\?bank=user-alice$/)
  await goBack()
  await question.waitFor()
  first.finish()
  await answerOf(page).getByText(/Tokens/).waitFor()
  await question.waitFor({ state: 'hidden' })

  await ask(page, 'Where does Alice live now?')
  second.say('Alice ')
  await answerOf(page).getByText('Writing the answer').waitFor()
  await page.getByRole('link', { name: 'Access' }).click()
  await question.getByRole('button', { name: 'Stop' }).click()
  await page.waitForURL(/access\?bank=user-alice$/)
  await page.goBack()
  await page.getByText('Ask something that the memories').waitFor()
})

consoleTest('an answer follows a schema, whose problems are shown', {
  ...withModel, expectedErrors: [/status of 400/],
}, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  gateway.model.next(says('{"answer": "Alice drinks tea. [1]", "structured": {"drink": "tea"}}'))
  await page.goto(url('reflect?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByLabel('Also answer as an object').check()
  const schema = page.getByLabel('JSON Schema of the object')
  await schema.fill('{"type": "object"')
  await page.getByText('The schema is not a JSON object.').waitFor()
  await ask(page, 'What does Alice drink?')
  await page.getByText('A schema must be a JSON object.').waitFor()
  await schema.fill('{"type": "object", "properties": {"drink": {"type": "text", "pattern": "a"}}}')
  await ask(page, 'What does Alice drink?')
  await page.getByText('response_schema.properties.drink.type').waitFor()
  await hasNoViolation(t, page, 'a schema with a problem')
  t.equal(gateway.model.requests.length, 0, 'nothing is asked')
  await page.getByRole('button', { name: 'Insert the example' }).click()
  await ask(page, 'What does Alice drink?')
  await page.getByRole('region', { name: 'The answer as an object' }).getByText('"drink": "tea"').waitFor()
})

consoleTest('an abstention is shown', {}, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-alice', content: 'Alice drinks tea.' })
  await page.goto(url('reflect?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await ask(page, 'Which orbit has the satellite?')
  await answerOf(page).getByText('No answer.').waitFor()
  await answerOf(page).getByText('none: no model was called').waitFor()
  await hasNoViolation(t, page, 'an abstention')
})

consoleTest('an answer without the model says so, and fits a narrow screen', {
  ...withModelAnd({ degraded_mode: 'extractive' }), viewport: { width: 360, height: 740 },
}, async (t, { page, url, client }) => {
  await client().retain({
    bank_id: 'user-alice', content: `Alice lives in ${'Llanfair'.repeat(40)}.`, tags: ['x'.repeat(128)],
  })
  gateway.model.next(hangUp)
  await page.goto(url('reflect?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByText('Which memories, and how to answer').click()
  await page.getByLabel('Also answer as an object').check()
  await page.getByLabel('Also answer as an object').uncheck()
  await ask(page, 'Where does Alice live?')
  await answerOf(page).getByText('Part of the server was not available.').waitFor()
  await answerOf(page).getByText('the answer consists of sentences of the memories').waitFor()
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return { scrollWidth, clientWidth }
  })
  t.equal(scrollWidth, clientWidth, 'nothing is wider than the screen')
  await hasNoViolation(t, page, 'a degraded answer on a narrow screen')
})

consoleTest('a caller without permissions sees which one is missing', {
  yaml: 'access_control: {enabled: true, default_policy: deny}',
}, async (t, { page, url }) => {
  await page.goto(url('reflect?bank=team'))
  await signInAs(page, 'user:bob')
  await page.getByText('You need read on this bank to ask it.').waitFor()
  await page.getByLabel('Question', { exact: true }).fill('What?')
  const button = page.getByRole('button', { name: 'Ask', exact: true })
  t.equal(await button.getAttribute('aria-disabled'), 'true')
  t.equal(await button.getAttribute('aria-describedby'), 'needs-read')
  await page.keyboard.press('Control+Enter')
  t.equal(await answerOf(page).count(), 0, 'nothing is asked')
  await hasNoViolation(t, page, 'a denial')
})
