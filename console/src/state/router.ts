import { signal } from '@preact/signals'
import { CONSOLE_URL } from '../urls.js'

/** The current page and its parameters in the URL. No URL contains secrets or texts of memories. */
export interface Route {
  /** The id of the page; empty at the root. */
  page: string
  params: URLSearchParams
}

export type Params = Record<string, string | number | boolean | readonly string[] | null | undefined>

function pageOf (pathname: string): string {
  return pathname.startsWith(CONSOLE_URL.pathname)
    ? decodeURIComponent(pathname.slice(CONSOLE_URL.pathname.length))
    : ''
}

function currentRoute (): Route {
  return { page: pageOf(location.pathname), params: new URLSearchParams(location.search) }
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

/** The place of the shown page among the entries of the browser's history, each of which keeps its own as its state. */
let position = 0

/** Navigates to a URL of the console. */
export function navigateTo (url: string, replace = false): void {
  if (!replace) position++
  if (replace) history.replaceState({ position }, '', url)
  else history.pushState({ position }, '', url)
  route.value = currentRoute()
}

/** What must change for a navigation to leave: the page, or anything in the URL. */
export type LeaveScope = 'page' | 'url'

interface LeaveGuard {
  scope: LeaveScope
  /** Asks the user, and calls `leave` if the user agrees. */
  ask: (leave: () => void) => void
}

let leaveGuard: LeaveGuard | undefined

/** Asks before a link, Back or Forward leaves, until the returned function is called. */
export function askBeforeLeaving (scope: LeaveScope, ask: LeaveGuard['ask']): () => void {
  const guard = { scope, ask }
  leaveGuard = guard
  return () => { if (leaveGuard === guard) leaveGuard = undefined }
}

/** The guard that asks before the shown URL is left for one with this path, if there is one. */
function guardOf (pathname: string): LeaveGuard | undefined {
  return leaveGuard?.scope === 'page' && pageOf(pathname) === route.value.page ? undefined : leaveGuard
}

/** The browser tells of Back and Forward only afterwards: the page is kept by going back to it. */
function onPopState ({ state }: PopStateEvent): void {
  const next = positionIn(state)
  if (next === undefined) {
    // A link within the page has added an entry.
    history.replaceState({ position: ++position }, '')
  } else {
    const distance = next - position
    if (distance === 0) return
    const guard = guardOf(location.pathname)
    if (guard !== undefined) {
      history.go(-distance)
      guard.ask(() => {
        leaveGuard = undefined
        history.go(distance)
      })
      return
    }
    position = next
  }
  route.value = currentRoute()
}

function positionIn (state: unknown): number | undefined {
  if (typeof state !== 'object' || state === null || !('position' in state)) return undefined
  return typeof state.position === 'number' ? state.position : undefined
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
  const follow = () => { navigateTo(url.pathname + url.search) }
  const guard = guardOf(url.pathname)
  if (guard === undefined) follow()
  else guard.ask(follow)
}

export function startRouter (): void {
  position = positionIn(history.state) ?? 0
  history.replaceState({ position }, '')
  route.value = currentRoute()
  addEventListener('popstate', onPopState)
  document.addEventListener('click', onClick)
}
