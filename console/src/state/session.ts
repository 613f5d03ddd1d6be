import { computed, signal } from '@preact/signals'
import { MemoryGatewayAdmin, MemoryGatewayClient } from 'memory-gateway-client'
import { GATEWAY_URL } from '../urls.js'
import { watchedFetch } from './connection.js'

/** The credentials of the caller, by auth mode. Anonymous callers of dev mode have an empty object. */
export interface Credentials {
  principal?: string
  apiKey?: string
  token?: string
  onBehalfOf?: string
}

interface StoredSession {
  credentials?: Credentials
  adminToken?: string
  lastUser?: string
}

const KEY = 'memory-gateway-console-session'
/**
 * The page shows failures and the time to retry at once. The client would wait as long as the server asks, which looks
 * the same as a slow request.
 */
const RETRIES = 0

function readStorage (): StoredSession {
  try {
    // Only this file writes it.
    return JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as StoredSession
  } catch {
    return {}
  }
}

const stored = readStorage()

/** Whether credentials outlive a reload of the page, in the storage of this tab. */
export const isRemembered = signal(stored.credentials !== undefined || stored.adminToken !== undefined)
export const credentials = signal<Credentials | undefined>(stored.credentials)
export const adminToken = signal<string | undefined>(stored.adminToken)
/** Whether the server has refused credentials that it accepted before. */
export const isExpired = signal(false)
/** The user who signed in last. The user's input survives an expired token, but not the sign-in of another user. */
export const lastUser = signal(stored.lastUser ?? '')
/** Whether the server has refused the admin token. */
export const isAdminRefused = signal(false)

function save (): void {
  try {
    if (!isRemembered.value) {
      sessionStorage.removeItem(KEY)
      return
    }
    const value: StoredSession = {
      ...(credentials.value !== undefined && { credentials: credentials.value }),
      ...(adminToken.value !== undefined && { adminToken: adminToken.value }),
      lastUser: lastUser.value,
    }
    sessionStorage.setItem(KEY, JSON.stringify(value))
  } catch {
    // Without storage the credentials are kept in memory only.
  }
}

/** Signs in once the server accepts the credentials, which also shows whether the user is the same as before. */
export async function signIn (newCredentials: Credentials, remember: boolean): Promise<void> {
  const { principal, tenant_id: tenant, on_behalf_of: other } = await createClient(newCredentials).whoami()
  const user = JSON.stringify([principal, tenant, other])
  if (user !== lastUser.value) {
    // The token of the operator who sat here before is not for another user.
    adminToken.value = undefined
    isAdminRefused.value = false
  }
  lastUser.value = user
  isRemembered.value = remember
  isExpired.value = false
  credentials.value = newCredentials
  save()
}

export function signOut (): void {
  credentials.value = undefined
  adminToken.value = undefined
  isExpired.value = false
  isAdminRefused.value = false
  isRemembered.value = false
  save()
}

export function setAdminToken (token: string | undefined): void {
  adminToken.value = token
  isAdminRefused.value = false
  save()
}

/** The URL stays, so that a user who signs in again returns to the same page. */
function expire (): void {
  if (credentials.value === undefined) return
  credentials.value = undefined
  isExpired.value = true
  save()
}

async function callerFetch (
  input: RequestInfo | URL, init?: RequestInit, fetch: typeof globalThis.fetch = watchedFetch,
): Promise<Response> {
  const sentCredentials = credentials.value
  const response = await fetch(input, init)
  if (response.status === 401 && credentials.value === sentCredentials) expire()
  return response
}

async function adminFetch (input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const sentCredentials = adminToken.value
  const response = await watchedFetch(input, init)
  // A late refusal of an earlier token does not concern the present one.
  if (response.status === 401 && adminToken.value === sentCredentials) {
    isAdminRefused.value = true
    adminToken.value = undefined
    save()
  }
  return response
}

/** A client with some credentials, which need not be those of the session. */
export function createClient (
  callerCredentials: Credentials, fetch: typeof globalThis.fetch = watchedFetch,
): MemoryGatewayClient {
  return new MemoryGatewayClient({ baseUrl: GATEWAY_URL, ...callerCredentials, retries: RETRIES, fetch })
}

/** A client of the caller with another implementation of fetch. */
export function createCallerClient (fetch: typeof globalThis.fetch): MemoryGatewayClient {
  return createClient(credentials.value ?? {}, async (input, init) => await callerFetch(input, init, fetch))
}

/** The client of the signed-in caller. A refusal of the credentials shows the sign-in page. */
export const client = computed(() => createCallerClient(watchedFetch))

/** The client of the operator. It needs no token if the server has no admin token. */
export const admin = computed(() => new MemoryGatewayAdmin({
  baseUrl: GATEWAY_URL,
  retries: RETRIES,
  fetch: adminFetch,
  ...(adminToken.value !== undefined && { adminToken: adminToken.value }),
}))
