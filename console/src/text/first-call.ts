import type { AdminStatus } from 'memory-gateway-client'
import { isBankId } from './bank-id.js'

interface Caller {
  mode: AdminStatus['auth']['mode']
  principal: string | null
}

/** The bank of a user without any: the one that the default access rules give a principal `<type>:<id>`. */
export function ownBankOf (principal: string | null): string {
  const bank = principal?.replace(':', '-') ?? ''
  return isBankId(bank) ? bank : 'my-bank'
}

/** A text as one word of a shell. */
function quote (text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/**
 * The headers of a call by the caller. Secrets stand in variables, because the page must not show them and a shell
 * keeps what is typed.
 */
function headersOf ({ mode, principal }: Caller): string[] {
  const asPrincipal = principal === null ? [] : [quote(`X-Service-Principal: ${principal}`)]
  switch (mode) {
    case 'dev': return asPrincipal
    case 'api_key': return ['"X-Api-Key: $SERVICE_API_KEY"', ...asPrincipal]
    case 'jwt_hs256':
    case 'jwt_oidc': return ['"Authorization: Bearer $TOKEN"']
    case 'host': return []
  }
}

/** A command that stores a first memory in a bank. */
export function firstCall (gateway: URL, bank: string, caller: Caller): string {
  const body = { bank_id: bank, content: 'Alice drinks green tea in the morning.' }
  return [
    `curl ${quote(new URL('v1/retain', gateway).href)}`,
    ...[quote('Content-Type: application/json'), ...headersOf(caller)].map((header) => `-H ${header}`),
    `-d ${quote(JSON.stringify(body))}`,
  ].join(' \\\n  ')
}
