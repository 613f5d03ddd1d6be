import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { isBankId } from '../access/context.js'
import { isUuid } from '../base/ids.js'
import { parsedJson } from '../base/json-object.js'
import { invalidField, type ServiceError } from '../base/service-error.js'

/**
 * The latest instant of a Date (ECMA-262, time values), before or after the epoch; some databases cannot compare larger
 * numbers.
 */
const MAX_INSTANT = 8.64e15
const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Of the sealed text: that of the longest bank id as JSON. A cursor of another length would tell that of a name. */
const SEALED_CHARACTERS = 272

type Check<T> = (parts: unknown) => parts is T

/**
 * A cursor that is base64url of a JSON array. It contains a position in an order that its reader knows anyway, and
 * grants no access.
 * @throws ServiceError invalid_request when the text is not a cursor, or `check` rejects its parts
 */
export function decodeCursor<T> (cursor: string, check: Check<T>): T {
  const parts = parsedJson(Buffer.from(cursor, 'base64url').toString('utf8'))
  if (check(parts)) return parts
  throw notACursor()
}

export function encodeCursor (parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/**
 * Cursors whose position the reader may not know or choose: a list of banks stops at banks that the caller may not
 * read, whose names a readable cursor would tell, and a forged one would enumerate. They are encrypted and
 * authenticated, for one list and tenant.
 */
export class SealedCursors {
  readonly #key: Buffer

  /** @param key of 64 hexadecimal digits, as all processes have that read each other's cursors. Default: random */
  constructor (key: string = randomBytes(KEY_BYTES).toString('hex')) {
    this.#key = Buffer.from(key, 'hex')
  }

  seal (list: string, tenantId: string | null, parts: readonly unknown[]): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(contextOf(list, tenantId))
    const text = JSON.stringify(parts).padEnd(SEALED_CHARACTERS)
    const sealed = [cipher.update(text, 'utf8'), cipher.final()]
    return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString('base64url')
  }

  /** @throws ServiceError invalid_request when the text is not a cursor of this list, or `check` rejects its parts */
  open<T> (list: string, tenantId: string | null, cursor: string, check: Check<T>): T {
    const parts = parsedJson(this.#decrypted(list, tenantId, Buffer.from(cursor, 'base64url')))
    if (check(parts)) return parts
    throw notACursor()
  }

  #decrypted (list: string, tenantId: string | null, bytes: Buffer): string {
    if (bytes.length !== NONCE_BYTES + SEALED_CHARACTERS + TAG_BYTES) throw notACursor()
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES))
    decipher.setAAD(contextOf(list, tenantId)).setAuthTag(bytes.subarray(-TAG_BYTES))
    try {
      return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      throw notACursor()
    }
  }
}

function contextOf (list: string, tenantId: string | null): Buffer {
  return Buffer.from(JSON.stringify([list, tenantId]))
}

function notACursor (): ServiceError {
  return invalidField('cursor', 'is not a cursor that this service gave')
}

// A store uses the values of a cursor unchecked, so only a valid instant, id, bank id, text or revision may reach it.

export function isMemoryPlace (parts: unknown): parts is [retainedAt: number, memoryId: string] {
  if (!Array.isArray(parts) || parts.length !== 2) return false
  const [retainedAt, memoryId]: unknown[] = parts
  return (
    Number.isInteger(retainedAt) && Math.abs(retainedAt as number) <= MAX_INSTANT && typeof memoryId === 'string' &&
      isUuid(memoryId)
  )
}

export function isBankPlace (parts: unknown): parts is [bankId: string] {
  return Array.isArray(parts) && parts.length === 1 && typeof parts[0] === 'string' && isBankId(parts[0])
}

export function isConversationPlace (parts: unknown): parts is [conversationId: string] {
  if (!Array.isArray(parts) || parts.length !== 1) return false
  const [id]: unknown[] = parts
  return typeof id === 'string' && id.isWellFormed() && !id.includes('\u0000')
}

export function isRevisionPlace (parts: unknown): parts is [revision: number] {
  return Array.isArray(parts) && parts.length === 1 && Number.isSafeInteger(parts[0])
}
