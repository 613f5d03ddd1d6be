import { computed, signal } from '@preact/signals'
import { MemoryGatewayAdmin, MemoryGatewayClient } from 'memory-gateway-client'
import { GATEWAY_URL } from '../mount.js'
import { watchedFetch } from './connection.js'

/** The credentials of the caller, by auth mode. Anonymous callers of dev mode have an empty object. */
export interface Credentials {
  principal?: string
  apiKey?: string
  token?: string
  onBehalfOf?: string
}

interface Kept {
  credentials?: Credentials
  adminToken?: string
  reader?: string
}

const KEY = 'memory-gateway-console-session'
/**
 * The page shows failures and the time to retry at once: the client would wait as long as the server asks, which a
 * reader could not distinguish from a slow request.
 */
const RETRIES = 0

function read (): Kept {
  try {
    // Only this file writes it.
    return JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Kept
  } catch {
    return {}
  }
}

const kept = read()

/** Whether credentials outlive a reload of the page, in the storage of this tab. */
export const isRemembered = signal(kept.credentials !== undefined || kept.adminToken !== undefined)
export const credentials = signal<Credentials | undefined>(kept.credentials)
export const adminToken = signal<string | undefined>(kept.adminToken)
/** Whether the server has refused credentials that it accepted before. */
export const isExpired = signal(false)
/**
 * Who signed in last, as far as the page knows. What a reader has typed survives an expired token, but not a sign-in of
 * somebody else.
 */
export const reader = signal(kept.reader ?? '')
/** Whether the server has refused the admin token. */
export const isAdminRefused = signal(false)

function keep (): void {
  try {
    if (!isRemembered.value) {
      sessionStorage.removeItem(KEY)
      return
    }
    const value: Kept = {
      ...(credentials.value !== undefined && { credentials: credentials.value }),
      ...(adminToken.value !== undefined && { adminToken: adminToken.value }),
      reader: reader.value,
    }
    sessionStorage.setItem(KEY, JSON.stringify(value))
  } catch {
    // Without storage the credentials are kept in memory only.
  }
}

/** Signs in once the server accepts the credentials, which also shows whether the reader is the same as before. */
export async function signIn (given: Credentials, remember: boolean): Promise<void> {
  const { principal, tenant_id: tenant, on_behalf_of: other } = await clientOf(given).whoami()
  reader.value = JSON.stringify([principal, tenant, other])
  isRemembered.value = remember
  isExpired.value = false
  credentials.value = given
  keep()
}

export function signOut (): void {
  credentials.value = undefined
  adminToken.value = undefined
  isExpired.value = false
  isAdminRefused.value = false
  isRemembered.value = false
  keep()
}

export function giveAdminToken (token: string | undefined): void {
  adminToken.value = token
  isAdminRefused.value = false
  keep()
}

/** The URL stays, so that a reader who signs in again returns to the same place. */
function expire (): void {
  if (credentials.value === undefined) return
  credentials.value = undefined
  isExpired.value = true
  keep()
}

async function callerFetch (
  input: RequestInfo | URL, init?: RequestInit, fetch: typeof globalThis.fetch = watchedFetch,
): Promise<Response> {
  const asked = credentials.value
  const response = await fetch(input, init)
  if (response.status === 401 && credentials.value === asked) expire()
  return response
}

async function adminFetch (input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const asked = adminToken.value
  const response = await watchedFetch(input, init)
  // A late refusal of an earlier token does not concern the present one.
  if (response.status === 401 && adminToken.value === asked) {
    isAdminRefused.value = true
    adminToken.value = undefined
    keep()
  }
  return response
}

/** A client with some credentials, which need not be those of the session. */
export function clientOf (given: Credentials, fetch: typeof globalThis.fetch = watchedFetch): MemoryGatewayClient {
  return new MemoryGatewayClient({ baseUrl: GATEWAY_URL, ...given, retries: RETRIES, fetch })
}

/** A client of the caller with a fetch of its own. */
export function callerBy (fetch: typeof globalThis.fetch): MemoryGatewayClient {
  return clientOf(credentials.value ?? {}, async (input, init) => await callerFetch(input, init, fetch))
}

/** Calls as the caller; a refusal of the credentials leads to the sign-in. */
export const client = computed(() => callerBy(watchedFetch))

/** Calls of the operator. No token is needed if the server has no admin token. */
export const admin = computed(() => new MemoryGatewayAdmin({
  baseUrl: GATEWAY_URL,
  retries: RETRIES,
  fetch: adminFetch,
  ...(adminToken.value !== undefined && { adminToken: adminToken.value }),
}))
