import { signal } from '@preact/signals'
import { CONSOLE_URL } from '../urls.js'

/** The current page and its parameters in the URL. No URL contains secrets or texts of memories. */
export interface Route {
  /** The id of the page; empty at the root. */
  page: string
  params: URLSearchParams
}

export type Params = Record<string, string | number | boolean | readonly string[] | null | undefined>

function currentRoute (): Route {
  const page = location.pathname.startsWith(CONSOLE_URL.pathname)
    ? location.pathname.slice(CONSOLE_URL.pathname.length)
    : ''
  return { page: decodeURIComponent(page), params: new URLSearchParams(location.search) }
}

export const route = signal<Route>({ page: '', params: new URLSearchParams() })

/** The query of a URL; a parameter without a value is omitted, and a list is repeated. */
export function queryOf (params: Params): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    const values = Array.isArray(value) ? value : [value]
    for (const one of values) {
      if (one !== undefined && one !== null && one !== '' && one !== false) search.append(name, String(one))
    }
  }
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

/** The URL of a page, for links. */
export function hrefOf (page: string, params: Params = {}): string {
  return `${CONSOLE_URL.pathname}${page}${queryOf(params)}`
}

export function navigate (page: string, params: Params = {}): void {
  navigateTo(hrefOf(page, params))
}

/** Changes some parameters of the URL; null removes one. By default the entry in the browser's history is replaced. */
export function changeParams (changes: Params, { replace = true } = {}): void {
  const { page, params } = route.value
  const all: Params = {}
  for (const name of params.keys()) all[name] = params.getAll(name)
  navigateTo(hrefOf(page, { ...all, ...changes }), replace)
}

/** Navigates to a URL of the console. */
export function navigateTo (url: string, replace = false): void {
  if (replace) history.replaceState(null, '', url)
  else history.pushState(null, '', url)
  route.value = currentRoute()
}

/** Follows links within the console without reloading the page. */
function onClick (event: MouseEvent): void {
  const { target, button, defaultPrevented, ctrlKey, metaKey, shiftKey, altKey } = event
  if (defaultPrevented || button !== 0 || ctrlKey || metaKey || shiftKey || altKey) return
  const link = target instanceof Element ? target.closest('a') : null
  if (link === null || link.target !== '' || link.hasAttribute('download')) return
  const url = new URL(link.href)
  const isConsoleUrl = url.origin === location.origin && url.pathname.startsWith(CONSOLE_URL.pathname)
  if (!isConsoleUrl || url.hash !== '') return
  event.preventDefault()
  navigateTo(url.pathname + url.search)
}

export function startRouter (): void {
  route.value = currentRoute()
  addEventListener('popstate', () => { route.value = currentRoute() })
  document.addEventListener('click', onClick)
}
