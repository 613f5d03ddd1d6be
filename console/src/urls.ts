/** The URL of the console, with a trailing slash: its scripts are in assets/ below it. */
export const CONSOLE_URL = new URL(/* @vite-ignore */ '..', import.meta.url)

/** The URL of the gateway, one level up. A proxy may have put a path before it. */
export const GATEWAY_URL = new URL('..', CONSOLE_URL)
