import { createAuthorizationRequest, SignInError, exchangeCode } from './oidc.js'
import type { OidcConfig } from './server-config.js'

/**
 * Messages between pages of the console in one browser. The code is useless to pages that did not start the sign-in.
 */
type Message = { response: string } | { acknowledged: string }

const CHANNEL = 'memory-gateway-console-oidc'
/** Time within which the waiting page acknowledges a response. */
const ACKNOWLEDGEMENT_TIMEOUT_MS = 2000
const FEATURES = 'popup,width=560,height=720'

/**
 * Signs in at the identity provider in a separate window, so that the page keeps its input. It must be called from a
 * click handler, because browsers block other windows.
 * @param signal ends the wait for a window that the user has closed
 * @returns the token
 */
export async function signInWithPopup (config: OidcConfig, signal: AbortSignal): Promise<string> {
  const popup = window.open('', '_blank', FEATURES)
  if (popup === null) {
    throw new SignInError('The browser has blocked the window for the sign-in: allow this page to open windows.')
  }
  try {
    const { url, attempt } = await createAuthorizationRequest(config)
    const response = receiveResponse(attempt.state, signal)
    popup.location.replace(url)
    return await exchangeCode(config, await response, attempt)
  } catch (error) {
    popup.close()
    throw error
  }
}

async function receiveResponse (state: string, signal: AbortSignal): Promise<URLSearchParams> {
  const channel = new BroadcastChannel(CHANNEL)
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => { reject(new DOMException('Aborted', 'AbortError')) })
      channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
        if (!('response' in data)) return
        const params = new URLSearchParams(data.response)
        if (params.get('state') !== state) return
        channel.postMessage({ acknowledged: state } satisfies Message)
        resolve(params)
      })
      signal.throwIfAborted()
    })
  } finally {
    channel.close()
  }
}

/** Sends the response of the provider to the page that waits for it. @returns whether a page has acknowledged it */
export async function relayResponse (params: URLSearchParams): Promise<boolean> {
  const state = params.get('state')
  if (state === null) return false
  const channel = new BroadcastChannel(CHANNEL)
  try {
    return await new Promise((resolve) => {
      setTimeout(() => { resolve(false) }, ACKNOWLEDGEMENT_TIMEOUT_MS)
      channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
        if ('acknowledged' in data && data.acknowledged === state) resolve(true)
      })
      channel.postMessage({ response: params.toString() } satisfies Message)
    })
  } finally {
    channel.close()
  }
}
