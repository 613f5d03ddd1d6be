import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '../lib/base/service-error.js'

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/i
const UTF_8 = /^(?:utf-?8|us-ascii)$/i

/** Why a body of text cannot be read: it is compressed, or in another charset than UTF-8 (RFC 8259, section 8.1). */
export function bodyCodingFault (headers: IncomingHttpHeaders): ServiceError | undefined {
  const { 'content-encoding': encoding, 'content-type': type = '' } = headers
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return new ServiceError('unsupported_media_type', 'Content-Encoding is not supported: send the body uncompressed')
  }
  const charset = type.includes(';') ? CHARSET.exec(type)?.[1] : undefined
  return charset === undefined || UTF_8.test(charset)
    ? undefined
    : new ServiceError('unsupported_media_type', 'The charset of the body must be UTF-8')
}

/** The bytes of a body. A request without a body never reaches a content type parser, so it has no bytes. */
export function bytesOf (body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
