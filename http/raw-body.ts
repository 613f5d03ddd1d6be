/** The bytes of a body. A request without a body never reaches a content type parser, so it has no bytes. */
export function rawBody (body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
