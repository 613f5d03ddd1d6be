import type { Locator, Page } from 'playwright-core'
import type { Test } from 'tap'

/** More stops than any page has with the few memories of a test. */
const MAX_STOPS = 150

interface Stop {
  name: string
  isTarget: boolean
  /** Why the reader could not see that it has the focus; empty: they can. */
  fault: string
}

/** What has the focus, and whether that is seen: an outline, on something that is in sight and not covered. */
async function look (page: Page, target?: Locator): Promise<Stop> {
  const stop = await page.evaluate<Stop>(`(() => {
    const element = document.activeElement
    const { tagName, id, className, textContent } = element
    const label = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? textContent
    const name = tagName.toLowerCase() + (id ? '#' + id : '') + ' ' + String(label).trim().slice(0, 40)
    if (element === document.body) return { name, isTarget: false, fault: '' }
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    const box = element.getBoundingClientRect()
    const isInSight = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight &&
      box.right > 0 && box.left < innerWidth
    const faults = []
    if (outlineStyle === 'none' || parseFloat(outlineWidth) < 1) faults.push('no outline')
    if (!isInSight) faults.push('not in sight')
    return { name, isTarget: false, fault: faults.join(', ') }
  })()`)
  return target === undefined ? stop : { ...stop, isTarget: await hasFocus(target) }
}

async function hasFocus (target: Locator): Promise<boolean> {
  return await target.evaluate((element) => element.matches(':focus'))
}

/** A user with a keyboard and no mouse. The focus must be visible at every stop. */
export class Keys {
  readonly #t: Test
  readonly #page: Page
  /** Stops at which nothing showed the focus. */
  readonly faults = new Set<string>()

  constructor (t: Test, page: Page) {
    this.#t = t
    this.#page = page
  }

  async press (...keys: string[]): Promise<void> {
    for (const key of keys) await this.#page.keyboard.press(key)
  }

  async type (text: string): Promise<void> {
    await this.#page.keyboard.type(text)
  }

  /** Moves the focus to an element with Tab, or with Shift and Tab. */
  async to (target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    await target.waitFor()
    if (await hasFocus(target)) return
    const names: string[] = []
    for (let stops = 0; stops < MAX_STOPS; stops++) {
      await this.press(key)
      const { name, isTarget, fault } = await look(this.#page, target)
      if (fault !== '') this.faults.add(`${name}: ${fault}`)
      if (isTarget) return
      names.push(name)
    }
    throw new Error(`${key} does not lead to ${target.toString()}, but to ${names.slice(0, 40).join(' · ')}`)
  }

  /** Moves the focus to an element and presses a key on it. */
  async use (target: Locator, key = 'Enter'): Promise<void> {
    await this.to(target)
    await this.press(key)
  }

  /** Goes to a field and types into it, in the place of what it has. */
  async fill (target: Locator, text: string): Promise<void> {
    await this.to(target)
    await this.press('ControlOrMeta+a')
    await this.type(text)
  }

  /** Whether something has the focus, as soon as it gets it. */
  async isAt (target: Locator, what: string): Promise<void> {
    await target.and(this.#page.locator(':focus')).waitFor()
    this.#t.pass(`the focus: ${what}`)
  }

  /** Goes by Tab until the beginning of the page comes again: nothing keeps the focus. */
  async around (what: string): Promise<void> {
    const first = this.#page.getByRole('link', { name: 'Skip to the content' })
    await this.to(first)
    this.#t.pass(`no trap: ${what}`)
    await this.press('Enter')
    await this.isAt(this.#page.locator('main'), `${what}: the first stop skips to the content`)
  }
}
