// What functions that run in the page use of it. The library of the browser's types does not agree with that of
// Node.js.
interface PageStorage { length: number, setItem: (key: string, value: string) => void }
interface PageElement {
  clientHeight: number
  clientWidth: number
  scrollHeight: number
  scrollWidth: number
  scrollTop: number
  textContent: string | null
  tagName: string
  id: string
  /** Of a link to a style: null when it is not loaded. */
  sheet?: object | null
}

declare const sessionStorage: PageStorage
declare const localStorage: PageStorage
declare const document: {
  documentElement: PageElement
  activeElement: PageElement | null
  querySelector: (selector: string) => PageElement | null
  querySelectorAll: (selector: string) => Iterable<PageElement> & { length: number }
}
declare function getComputedStyle (element: unknown): { color: string }
declare function requestAnimationFrame (act: (time: number) => void): number
