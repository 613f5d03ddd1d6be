import type { Page } from 'playwright-core'
import { consoleTest, signInAs, startConsoleServer } from '../browser.js'

const COUNT = 100_000
const FRAMES = 300
/** Rows of the page and those kept beyond it; far fewer than there are. */
const MAX_ROWS = 60

const YAML = `
bounds: {import_lines: 200000, import_bytes: 200000000}
`

function * exported (): Generator<string> {
  yield '{"format":"memory-gateway-export","version":1}'
  for (let index = 0; index < COUNT; index++) {
    const at = new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString()
    yield JSON.stringify({
      text: `Memory number ${index} tells of matter ${index % 997} and of nothing else.`,
      tags: [`tag-${index % 7}`],
      retained_at: at,
      occurred_at: at,
    })
  }
}

/** Milliseconds between frames while the list scrolls, by `step` pixels a frame. */
async function framesOf (page: Page, step: number): Promise<number[]> {
  return await page.evaluate(async ({ frames, pixels }) => await new Promise<number[]>((resolve) => {
    const list = document.querySelector('.virtual-list')
    const durations: number[] = []
    let last = 0
    const next = (now: number) => {
      if (last > 0) durations.push(now - last)
      last = now
      if (list !== null) list.scrollTop += pixels
      if (durations.length < frames) requestAnimationFrame(next)
      else resolve(durations)
    }
    requestAnimationFrame(next)
  }), { frames: FRAMES, pixels: step })
}

function percentile (values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1)
}

consoleTest('100,000 memories are one list that can be scrolled', {
  start: async (t) => await startConsoleServer(t, { yaml: YAML }),
}, async (t, { page, url, client }) => {
  const lines = Array.from(exported(), (line) => `${line}\n`)
  const { imported } = await client().importBank({ bank_id: 'big', lines }, { timeoutMs: 600_000 })
  t.equal(imported, COUNT)
  await page.goto(url('memories?bank=big'))
  await signInAs(page, 'user:alice')
  const list = page.getByRole('listbox', { name: 'Memories' })
  await list.getByText(`Memory number ${COUNT - 1} `).waitFor()
  await page.getByRole('status').getByText('100,000').waitFor()
  for (const step of [40, 400, 4000]) {
    const frames = await framesOf(page, step)
    t.comment(`scroll by ${step} pixels a frame: p50 ${percentile(frames, 0.5)} ms, p95 ${percentile(frames, 0.95)} ` +
      `ms, p99 ${percentile(frames, 0.99)} ms, max ${percentile(frames, 1 - 1 / FRAMES)} ms`)
    t.ok(await list.getByRole('option').count() <= MAX_ROWS, 'the page contains only the visible rows')
  }
  await list.focus()
  await page.keyboard.press('End')
  await list.getByText('Memory number 0 ').waitFor()
  t.equal(await list.getByRole('option').last().getAttribute('aria-posinset'), String(COUNT))
  await page.keyboard.press('Enter')
  await page.locator('.memories-content').getByText('Memory number 0 ').waitFor()
  await list.focus()
  await page.keyboard.press('Home')
  await list.getByText(`Memory number ${COUNT - 1} `).waitFor()
  await page.evaluate(() => {
    const element = document.querySelector('.virtual-list')
    if (element !== null) element.scrollTop = element.scrollHeight / 2
  })
  await list.getByText('Memory number 49999 ').waitFor()
})
