import { prepareSignIn, SignInError, tokenOf } from './oidc.js'
import type { OidcConfig } from './server-config.js'

/**
 * Messages between pages of the console in one browser. The code is useless to pages that did not begin the sign-in.
 */
type Message = { answer: string } | { taken: string }

const CHANNEL = 'memory-gateway-console-oidc'
/** Time in which a waiting page accepts an answer. */
const TAKEN_WITHIN_MS = 2000
const FEATURES = 'popup,width=560,height=720'

/**
 * Signs in at the identity provider in a window of its own, so that the page keeps what was typed on it. It must be
 * called from a click: browsers open no window otherwise.
 * @param signal ends the wait for a window that the reader has closed
 * @returns the token
 */
export async function signInBeside (config: OidcConfig, signal: AbortSignal): Promise<string> {
  const beside = window.open('', '_blank', FEATURES)
  if (beside === null) throw new SignInError('The browser has opened no window for the sign-in: it must be allowed to.')
  try {
    const { url, begun } = await prepareSignIn(config)
    const answer = answerWith(begun.state, signal)
    beside.location.replace(url)
    return await tokenOf(config, await answer, begun)
  } catch (error) {
    beside.close()
    throw error
  }
}

async function answerWith (state: string, signal: AbortSignal): Promise<URLSearchParams> {
  const channel = new BroadcastChannel(CHANNEL)
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => { reject(new DOMException('Aborted', 'AbortError')) })
      channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
        if (!('answer' in data)) return
        const params = new URLSearchParams(data.answer)
        if (params.get('state') !== state) return
        channel.postMessage({ taken: state } satisfies Message)
        resolve(params)
      })
      signal.throwIfAborted()
    })
  } finally {
    channel.close()
  }
}

/** Gives the answer of the provider to the page that waits for it. @returns whether there is one */
export async function handOver (params: URLSearchParams): Promise<boolean> {
  const state = params.get('state')
  if (state === null) return false
  const channel = new BroadcastChannel(CHANNEL)
  try {
    return await new Promise((resolve) => {
      setTimeout(() => { resolve(false) }, TAKEN_WITHIN_MS)
      channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
        if ('taken' in data && data.taken === state) resolve(true)
      })
      channel.postMessage({ answer: params.toString() } satisfies Message)
    })
  } finally {
    channel.close()
  }
}
