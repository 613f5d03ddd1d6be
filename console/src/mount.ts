/** The URL that the console is served at, with a slash at its end: its scripts lie in assets/ below it. */
export const CONSOLE_URL = new URL(/* @vite-ignore */ '..', import.meta.url)

/** The URL of the gateway, one level up. A proxy may have put a path before it. */
export const GATEWAY_URL = new URL('..', CONSOLE_URL)
