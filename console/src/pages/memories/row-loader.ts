/** Loads one page of a long list. */
export type LoadPage<Item> = (page: number, signal: AbortSignal) => Promise<readonly Item[]>

const MAX_CONCURRENT = 2
/** Maximum number of pages that wait to be loaded; pages that the user has scrolled past are dropped. */
const MAX_PENDING_PAGES = 3

/**
 * The rows of a long list, loaded in pages as they come into view, in any order. The page requested last is loaded
 * first.
 */
export class RowLoader<Item> {
  readonly pageSize: number
  readonly #load: LoadPage<Item>
  readonly #onChange: (error: unknown) => void
  readonly #pages = new Map<number, readonly Item[]>()
  readonly #loading = new Set<number>()
  readonly #controller = new AbortController()
  #pending: number[] = []
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

  requestRow (index: number): void {
    const page = Math.floor(index / this.pageSize)
    if (this.#hasFailed || this.#pages.has(page) || this.#loading.has(page)) return
    this.#pending = [page, ...this.#pending.filter((other) => other !== page)].slice(0, MAX_PENDING_PAGES)
    this.#next()
  }

  /** After a failure nothing is requested until this is called. */
  retry (): void {
    this.#hasFailed = false
    this.#onChange(undefined)
  }

  close (): void {
    this.#controller.abort()
    this.#pending = []
  }

  #next (): void {
    const { signal } = this.#controller
    while (!signal.aborted && this.#loading.size < MAX_CONCURRENT) {
      const page = this.#pending.shift()
      if (page === undefined) return
      this.#loading.add(page)
      this.#load(page, signal).then((items) => {
        this.#pages.set(page, items)
        return undefined
      }, (error: unknown) => {
        this.#hasFailed = true
        this.#pending = []
        return error
      }).then((error) => {
        this.#loading.delete(page)
        if (signal.aborted) return
        this.#onChange(error)
        this.#next()
      }, () => {})
    }
  }
}
