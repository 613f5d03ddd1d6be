/** Loads a part of a long list. */
export type LoadPage<Item> = (page: number, signal: AbortSignal) => Promise<readonly Item[]>

const AT_ONCE = 2
/** The most pages that wait to be requested; those that the reader has scrolled past are not loaded. */
const MOST_WAITING = 3

/**
 * The rows of a long list, loaded in pages as they come into view, in any order. The page requested last is loaded
 * first.
 */
export class RowLoader<Item> {
  readonly pageSize: number
  readonly #load: LoadPage<Item>
  readonly #onChange: (error: unknown) => void
  readonly #pages = new Map<number, readonly Item[]>()
  readonly #busy = new Set<number>()
  readonly #controller = new AbortController()
  #waiting: number[] = []
  #hasFailed = false

  constructor (pageSize: number, load: LoadPage<Item>, onChange: (error: unknown) => void) {
    this.pageSize = pageSize
    this.#load = load
    this.#onChange = onChange
  }

  /** Undefined: not loaded yet; null: the list has become shorter, and this row is no longer there. */
  at (index: number): Item | null | undefined {
    const page = this.#pages.get(Math.floor(index / this.pageSize))
    return page === undefined ? undefined : page[index % this.pageSize] ?? null
  }

  put (page: number, items: readonly Item[]): void {
    this.#pages.set(page, items)
  }

  want (index: number): void {
    const page = Math.floor(index / this.pageSize)
    if (this.#hasFailed || this.#pages.has(page) || this.#busy.has(page)) return
    this.#waiting = [page, ...this.#waiting.filter((one) => one !== page)].slice(0, MOST_WAITING)
    this.#next()
  }

  /** After a failure nothing is requested until this is called. */
  retry (): void {
    this.#hasFailed = false
    this.#onChange(undefined)
  }

  close (): void {
    this.#controller.abort()
    this.#waiting = []
  }

  #next (): void {
    const { signal } = this.#controller
    while (!signal.aborted && this.#busy.size < AT_ONCE) {
      const page = this.#waiting.shift()
      if (page === undefined) return
      this.#busy.add(page)
      this.#load(page, signal).then((items) => {
        this.#pages.set(page, items)
        return undefined
      }, (error: unknown) => {
        this.#hasFailed = true
        this.#waiting = []
        return error
      }).then((error) => {
        this.#busy.delete(page)
        if (signal.aborted) return
        this.#onChange(error)
        this.#next()
      }, () => {})
    }
  }
}
