import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { turnKeyOf } from '../http/turn-key.js'
import { budgetSpent, type Hold } from '../lib/concurrency/byte-budget.js'
import { ServiceError } from '../lib/errors/service-error.js'
import { readJson, SHORT_BODY } from '../lib/validation/json-body.js'
import { turns } from '../lib/concurrency/turn-budget.js'

/** What a long body is reckoned at: its bytes, the text that is made of them, and the values that are made of that. */
const WEIGHT = 4
/**
 * The part of the budget that long bodies may fill. The rest is for short ones, so that many can go on while a few
 * wait.
 */
const SHARE = 0.75

/** How long a client whose body is refused has to read the answer, in milliseconds. */
const LINGER_MS = 2000

/** Bytes below which a chunk is put together with others. */
const SMALL_CHUNK = 4096

const NOTHING = Buffer.alloc(0)

const HELD: unique symbol = Symbol('bytes held for the body')

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The setting that bounds the route's body, for the refusal. Default: SERVICES_MAX_BODY_BYTES. */
    bodyBound?: string
  }
  interface FastifyRequest {
    [HELD]: Hold | null
  }
  interface FastifyInstance {
    /** A content type parser that reads a body whole, as bytes. */
    readBody: BodyParser<Buffer>
    /** The same, and what the bytes are as JSON. */
    readJsonBody: BodyParser<unknown>
  }
}

type Payload = FastifyRequest['raw']
/** As Fastify calls a parser of a content type that reads for itself. */
export type BodyParser<T> = (
  request: FastifyRequest, payload: Payload, done: (error: Error | null, body?: T) => void,
) => void

/**
 * Reads bodies, each within the limit of its route, and all of them within the bytes that may be worked on. What
 * arrives is counted, not what a header announces: an announcement costs nothing, and would keep others out. The bytes
 * are held to the end of the exchange.
 */
async function bodyReader (app: FastifyInstance): Promise<void> {
  const { workBytes, bounds } = app
  app.decorateRequest(HELD, null)
  app.activeRequests.onEnd((request) => { request[HELD]?.release() })

  /** @throws ServiceError server_busy */
  const hold = (request: FastifyRequest, reckoned: number, received: number) => {
    const wanted = weightOf(received)
    const more = wanted - reckoned
    if (received > SHORT_BODY && workBytes.held + more > SHARE * workBytes.limit) throw budgetSpent()
    const held = request[HELD]
    if (held === null) request[HELD] = workBytes.hold(more)
    else held.grow(more)
    return wanted
  }
  const weightOf = (bytes: number) => bytes > SHORT_BODY ? Math.min(WEIGHT * bytes, SHARE * workBytes.limit) : bytes

  const readBody: BodyParser<Buffer> = (request, payload, done) => {
    const { bodyLimit, config } = request.routeOptions
    const announced = Number(request.headers['content-length'])
    /** Nearly every body comes in one chunk. */
    let only: Buffer | undefined
    let chunks: Chunks | undefined
    let received = 0
    let reckoned = 0
    const stop = () => {
      payload.off('data', onData)
      payload.off('end', onEnd)
      payload.off('error', onError)
    }
    const refuse = (error: Error) => {
      stop()
      linger(payload)
      done(error)
    }
    const onData = (chunk: Buffer) => {
      received += chunk.length
      if (received > bodyLimit) {
        refuse(tooLarge(bodyLimit, config.bodyBound))
        return
      }
      try {
        reckoned = hold(request, reckoned, received)
        if (received === chunk.length) only = chunk
        else (chunks ??= new Chunks(only)).add(chunk)
      } catch (error) {
        refuse(error as Error)
      }
    }
    const onEnd = () => {
      stop()
      if (!Number.isNaN(announced) && received !== announced) done(new ServiceError('invalid_request', 'Request body does not match Content-Length'))
      else done(null, chunks?.whole() ?? only ?? NOTHING)
    }
    const onError = (cause: Error) => {
      stop()
      done(new ServiceError('invalid_request', 'The request could not be read', { cause }))
    }
    if (announced > bodyLimit) {
      refuse(tooLarge(bodyLimit, config.bodyBound))
      return
    }
    if (announced > SHORT_BODY && workBytes.held + weightOf(announced) > SHARE * workBytes.limit) {
      refuse(budgetSpent())
      return
    }
    payload.on('data', onData)
    payload.on('end', onEnd)
    payload.on('error', onError)
    payload.resume()
  }

  const readJsonBody: BodyParser<unknown> = (request, payload, done) => {
    readBody(request, payload, (error, body) => {
      if (error !== null) {
        done(error)
        return
      }
      if (body!.length === 0) {
        // Many clients send the type with every request: a route without a body takes the empty one that comes with it.
        if (request.routeOptions.schema?.body === undefined) done(null)
        else done(new ServiceError('invalid_json', 'Request body is empty'))
        return
      }
      if (body!.length <= SHORT_BODY && !turns.isSpent) parse(body!, done)
      else void parseLater(request, body!).then((value) => { done(null, value) }, done)
    })
  }
  const parse = (body: Buffer, done: (error: Error | null, value?: unknown) => void) => {
    let value: unknown
    try {
      value = readJson(body, bounds, '')
    } catch (error) {
      done(error as Error)
      return
    }
    done(null, value)
  }
  const parseLater = async (request: FastifyRequest, body: Buffer): Promise<unknown> => {
    const caller = turnKeyOf(request)
    if (turns.isSpent) await turns.next(caller)
    return await readJson(body, bounds, caller)
  }

  app.decorate('readBody', readBody)
  app.decorate('readJsonBody', readJsonBody)
}

/**
 * Passes over what still comes of a body that is refused. A connection that is destroyed while the client writes is
 * reset, and with it goes the answer that the client has not read yet (RFC 9112, section 9.6): this side is closed
 * first, and the other a little later.
 */
function linger (payload: Payload): void {
  const { socket } = payload
  payload.on('error', () => {})
  payload.resume()
  // What Node calls when the answer is sent.
  socket.destroySoon = () => {
    socket.end()
    const timer = setTimeout(() => { socket.destroy() }, LINGER_MS)
    socket.once('close', () => { clearTimeout(timer) })
  }
}

/**
 * What has come of a body. A client may send it byte by byte, and a buffer of one byte holds a hundred times as much:
 * small ones are put together.
 */
class Chunks {
  readonly #full: Buffer[] = []
  /** Where small ones go; undefined until there is one. */
  #open: Buffer | undefined
  #used = 0

  constructor (first: Buffer | undefined) {
    if (first !== undefined) this.add(first)
  }

  add (chunk: Buffer): void {
    if (chunk.length >= SMALL_CHUNK) {
      this.#close()
      this.#full.push(chunk)
      return
    }
    if (this.#open !== undefined && this.#used + chunk.length > this.#open.length) this.#close()
    this.#open ??= Buffer.allocUnsafe(SHORT_BODY)
    this.#used += chunk.copy(this.#open, this.#used)
  }

  whole (): Buffer {
    this.#close()
    return this.#full.length === 1 ? this.#full[0]! : Buffer.concat(this.#full)
  }

  #close (): void {
    if (this.#open !== undefined) this.#full.push(this.#open.subarray(0, this.#used))
    this.#open = undefined
    this.#used = 0
  }
}

function tooLarge (limit: number, bound = 'SERVICES_MAX_BODY_BYTES'): ServiceError {
  return new ServiceError('body_too_large', `Request body is too large: more than ${limit} bytes (${bound})`)
}

export default fp(bodyReader, { name: 'body-reader', fastify: '5.x', dependencies: ['bounds', 'active-requests'] })
