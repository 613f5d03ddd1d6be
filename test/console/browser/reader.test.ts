import { consoleTest, hasCount, hasNoViolation, settled, signInAs } from '../browser.js'

/** Contents that would have an effect if they were not shown as text. */
const HOSTILE_TAGS = [
  '<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '<svg onload=alert(1)>', 'javascript:alert(1)',
  'https://evil.example/?q=1', 'user\u202egnp.exe', 'pay\u200bpal', '"><iframe src="https://evil.example">',
]

/** Of the navigation. */
const PAGES = 9

const DENIED = `
access_control: {enabled: true, default_policy: deny}
access_grants: [{bank_id: team, principal: 'user:alice', permissions: [read, write]}]
`

consoleTest('a bank is shown with its numbers, growth and any tags', {}, async (t, { page, url, client }) => {
  for (const [index, tag] of HOSTILE_TAGS.entries()) {
    await client().retain({ bank_id: 'user-alice', content: `Fact ${index}.`, tags: [tag, 'all'] })
  }
  await page.goto(url('banks'))
  await signInAs(page, 'user:alice')
  await page.getByRole('link', { name: 'user-alice', exact: true }).click()
  await page.getByRole('heading', { name: 'Growth by day' }).waitFor()
  await page.getByText(`${HOSTILE_TAGS.length} memories from`).waitFor()
  const tags = page.locator('.banks-tags')
  for (const tag of HOSTILE_TAGS.slice(0, 5)) t.ok(await tags.getByText(tag, { exact: true }).isVisible(), tag)
  await tags.getByText('(U+202E right-to-left override)').waitFor()
  t.equal(await page.locator('main script, main svg[onload], main img, iframe').count(), 0)
  t.same(await page.locator('main a[href^="http"], main a[href^="javascript"]').count(), 0)
  await hasCount(t, page.locator('rect.series-1'), 1, 'one day has a bar')
  await page.getByText('Memories retained as a table').click()
  await hasCount(t, page.getByRole('table', { name: 'Memories retained' }).getByRole('row'), 31)
  await page.getByLabel('Days').selectOption('90')
  await page.waitForURL(/days=90/)
  await hasNoViolation(t, page, 'a bank')
})

consoleTest('a caller without permissions sees a message with the code and the request id', {
  yaml: DENIED, expectedErrors: [/status of 403/],
}, async (t, { page, url }) => {
  await page.goto(url('banks?bank=team'))
  await signInAs(page, 'user:bob')
  const failure = page.getByRole('alert').first()
  await failure.getByText("Principal 'user:bob' is denied 'read' on bank 'team'").waitFor()
  await failure.getByText('access_denied').waitFor()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await failure.getByRole('button', { name: 'Copy details' }).click()
  await failure.getByRole('button', { name: 'Copied' }).waitFor()
  await hasNoViolation(t, page, 'a denial')
  await page.getByRole('link', { name: 'All banks' }).click()
  await page.getByText('There is no bank that you may read yet.').waitFor()
})

consoleTest('everything can be reached by the keyboard', {}, async (t, { page, url }) => {
  await page.goto(url())
  await page.getByLabel('Principal').focus()
  await page.keyboard.type('user:alice')
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  await page.reload()
  await page.getByLabel('Principal').fill('user:alice')
  await page.keyboard.press('Enter')
  await page.locator('h1:focus', { hasText: 'Memories' }).waitFor()
  const names: string[] = []
  while (names.length < PAGES && names.at(-1) !== 'Ask') {
    await page.keyboard.press('Shift+Tab')
    names.push(await page.evaluate(() => document.activeElement?.textContent ?? ''))
  }
  t.same(names, ['Admin', 'Sources', 'Overview', 'Access', 'Recall lab', 'Ask'])
  t.not(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none', 'the focus is visible')
  await page.keyboard.press('Enter')
  await page.locator('h1:focus', { hasText: 'Ask' }).waitFor()
})

consoleTest('the first Tab key offers to skip to the content', {}, async (t, { page, url }) => {
  await page.goto(url())
  await page.keyboard.press('Tab')
  t.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to the content')
  await page.keyboard.press('Enter')
  t.equal(await page.evaluate(() => document.activeElement?.id), 'main')
})

consoleTest('the theme is the system\'s until the reader chooses', {}, async (t, { page, url }) => {
  const ground = async () => await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
  await page.goto(url())
  const light = await ground()
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await ground()
  t.not(light, dark)
  await page.getByLabel('Theme').selectOption('light')
  t.equal(await ground(), light)
  await page.reload()
  await page.getByLabel('Principal').waitFor()
  t.equal(await ground(), light, 'the choice is stored')
})

const WIDTHS = [360, 768, 1920, 3840]

consoleTest('no page is wider than the screen', {
  viewport: { width: 360, height: 740 },
}, async (t, { page, url, client }) => {
  await client().retain({ bank_id: 'user-alice', content: 'Alice drinks tea.', tags: ['x'.repeat(128)] })
  await page.goto(url('banks?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByText('Memories retained as a table').waitFor()
  for (const link of [undefined, 'All banks', 'Overview']) {
    if (link !== undefined) await page.getByRole('link', { name: link }).click()
    await settled(page)
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 })
      const beyond = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement
        return scrollWidth - clientWidth
      })
      t.ok(beyond <= 0, `${link ?? 'a bank'} at ${width}: ${beyond} pixels too wide`)
    }
  }
})
