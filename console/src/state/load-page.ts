import type { PageEntry } from '../pages.js'

/** The address of a module that could not be fetched, which the errors of Chromium and Firefox contain. */
const MODULE_ADDRESS = /https?:\/\/\S+\.js\b/

let hasFailed = false

/**
 * Loads a page, also after an attempt that failed because the server did not answer. Chromium remembers for as long as
 * the console is open that a module could not be fetched, so it is then requested with a query.
 */
export async function loadPage (load: PageEntry['load']): ReturnType<PageEntry['load']> {
  if (hasFailed) requestFailedStyles()
  hasFailed = false
  try {
    return await load()
  } catch (error) {
    hasFailed = true
    const address = MODULE_ADDRESS.exec(String(error))?.[0]
    if (address === undefined) throw error
    try {
      return await import(/* @vite-ignore */ `${address}?attempt=${Date.now()}`) as Awaited<ReturnType<typeof load>>
    } catch {
      throw error
    }
  }
}

/** A style that could not be fetched is not requested again by itself. */
function requestFailedStyles (): void {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')) {
    if (link.sheet === null) link.replaceWith(link.cloneNode())
  }
}
