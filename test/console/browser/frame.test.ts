import { axeViolations, consoleTest, hasNoViolation, settled, signInAs } from '../browser.js'

const PAGES = [
  'Memories', 'Conversations', 'Proposals', 'Ask', 'Recall lab', 'Access', 'Overview', 'Sources', 'Admin',
]

consoleTest('every page is in the navigation, and has a title and no violation', {}, async (t, { page, url }) => {
  await page.goto(url())
  await hasNoViolation(t, page, 'Sign in')
  await page.evaluate('document.querySelector("form").append(document.createElement("button"))')
  t.match((await axeViolations(page)).join('\n'), /button-name/, 'a violation would be found')
  await page.reload()
  await signInAs(page, 'user:alice')
  for (const title of PAGES) {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: title }).click()
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    t.equal(await page.title(), `${title} · Memory Gateway`)
    await settled(page)
    await hasNoViolation(t, page, title)
  }
})
