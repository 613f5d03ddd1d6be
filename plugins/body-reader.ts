import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { BodyBudget, type HeldBody } from '../http/body-budget.js'
import { BodyChunks } from '../http/body-chunks.js'
import { bodyCodingFault } from '../http/body-coding.js'
import { turnKeyOf } from '../http/turn-key.js'
import { ServiceError } from '../lib/errors/service-error.js'
import { readCheckedJson, readJson, SHORT_BODY } from '../lib/validation/json-body.js'
import { JsonGuard } from '../lib/validation/json-guard.js'
import { turns } from '../lib/concurrency/turn-budget.js'

/** A chunk of fewer bytes is inspected at once, even in a turn whose time is used up. */
const MAX_SYNC_CHUNK = 4096

/** Milliseconds that a client whose body is refused has to read the response, counted from its last data. */
const LINGER_MS = 2000
/** The longest time for reading the response, even if the client keeps sending. */
const MAX_LINGER_MS = 10_000
/** The pause in milliseconds between two chunks of a refused body while the process is busy. */
const DISCARD_PAUSE_MS = 10

const EMPTY = Buffer.alloc(0)
const HELD: unique symbol = Symbol('bytes held for the body')

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The setting that limits the body, for its error; null: none does. Default: SERVICES_MAX_BODY_BYTES. */
    bodyBound?: string | null
  }
  interface FastifyRequest {
    [HELD]: HeldBody | null
  }
  interface FastifyInstance {
    /** A content type parser that reads the whole body as bytes. */
    readBody: BodyParser<Buffer>
    /** A content type parser that reads the whole body as JSON. */
    readJsonBody: BodyParser<unknown>
  }
}

type Payload = FastifyRequest['raw']
/** A content type parser that reads the payload itself, in the signature that Fastify expects. */
type BodyParser<T> = (
  request: FastifyRequest, payload: Payload, done: (error: Error | null, body?: T) => void,
) => void

/**
 * Reads bodies, each within the limit of its route, and all of them within the byte budget of the process. It counts
 * the bytes that arrive and not Content-Length: a client could announce a large body at no cost and so take capacity
 * from others. The bytes count until the request ends.
 */
async function bodyReader (app: FastifyInstance): Promise<void> {
  const { workBytes, bounds } = app
  const budget = new BodyBudget(workBytes)
  app.decorateRequest(HELD, null)
  app.activeRequests.onEnd((request) => { request[HELD]?.release() })

  /** @param look inspects the chunks of a long body in turns of the event loop; the body is refused when it throws */
  const receive = (
    request: FastifyRequest, payload: Payload, done: Parameters<BodyParser<Buffer>>[2],
    look?: (chunk: Buffer) => void,
  ) => {
    const { bodyLimit, config } = request.routeOptions
    const caller = turnKeyOf(request)
    const announced = Number(request.headers['content-length'])
    /** Most bodies arrive in one chunk, which needs no copy. */
    let only: Buffer | undefined
    let chunks: BodyChunks | undefined
    let received = 0
    let isOver = false
    const stop = () => {
      isOver = true
      payload.off('data', onData)
      payload.off('end', onEnd)
      payload.off('error', onError)
    }
    const refuse = (error: Error) => {
      stop()
      discardRest(payload)
      done(error)
    }
    const onData = (chunk: Buffer) => {
      received += chunk.length
      if (received > bodyLimit) {
        refuse(tooLarge(bodyLimit, config.bodyBound))
        return
      }
      try {
        held.hold(received)
        if (received === chunk.length) only = chunk
        else (chunks ??= new BodyChunks(only)).add(chunk)
        // A short body is inspected when it is complete.
        if (announced <= SHORT_BODY) return
        if (chunk.length < MAX_SYNC_CHUNK || !turns.isExhausted) look?.(chunk)
        else void lookLater(chunk)
      } catch (error) {
        refuse(error as Error)
      }
    }
    let isWaiting = false
    let hasEnded = false
    const lookLater = async (chunk: Buffer) => {
      isWaiting = true
      // Data is read only as fast as its client gets turns; otherwise many long bodies would block the event loop.
      payload.pause()
      await turns.next(caller)
      isWaiting = false
      if (isOver) return
      try {
        look?.(chunk)
      } catch (error) {
        refuse(error as Error)
        return
      }
      if (hasEnded) onEnd()
      else payload.resume()
    }
    const onEnd = () => {
      hasEnded = true
      // `end` can follow the last chunk even when the stream is paused.
      if (isWaiting) return
      stop()
      if (!Number.isNaN(announced) && received !== announced) {
        done(new ServiceError('invalid_request', 'Request body does not match Content-Length'))
      } else if (chunks === undefined) {
        done(null, only ?? EMPTY)
      } else {
        void chunks.join(caller).then((body) => { done(null, body) }, done)
      }
    }
    const onError = (cause: Error) => {
      stop()
      done(new ServiceError('invalid_request', 'The request could not be read', { cause }))
    }
    if (announced > bodyLimit) {
      refuse(tooLarge(bodyLimit, config.bodyBound))
      return
    }
    try {
      budget.refuseIfTooLong(announced, caller)
    } catch (error) {
      refuse(error as Error)
      return
    }
    const held = request[HELD] = budget.begin(caller)
    payload.on('data', onData)
    payload.on('end', onEnd)
    payload.on('error', onError)
    payload.resume()
  }
  const readBody: BodyParser<Buffer> = (request, payload, done) => { receive(request, payload, done) }

  const readJsonBody: BodyParser<unknown> = (request, payload, done) => {
    const fault = bodyCodingFault(request.headers)
    if (fault !== undefined) {
      discardRest(payload)
      done(fault)
      return
    }
    // A long body with too many values is refused as soon as they have arrived, before all of it is in memory.
    let guard: JsonGuard | undefined
    receive(request, payload, (error, body) => {
      if (error !== null) {
        done(error)
        return
      }
      if (body!.length === 0) {
        // Many clients send a Content-Type with every request, so a route without a body accepts an empty one.
        if (request.routeOptions.schema?.body === undefined) done(null)
        else done(new ServiceError('invalid_json', 'Request body is empty'))
        return
      }
      if (body!.length <= SHORT_BODY && !turns.isExhausted) parse(body!, done)
      else void parseLater(request, body!).then((value) => { done(null, value) }, done)
    }, (chunk) => { (guard ??= new JsonGuard(bounds)).read(chunk) })
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
    if (turns.isExhausted) await turns.next(caller)
    return body.length > SHORT_BODY ? await readCheckedJson(body, caller) : readJson(body, bounds, caller)
  }

  app.decorate('readBody', readBody)
  app.decorate('readJsonBody', readJsonBody)
}

/**
 * Discards the rest of a refused body. Destroying a connection while the client writes resets it, and the client loses
 * the response that it has not read yet (RFC 9112, section 9.6). So this side closes first, and the connection is
 * destroyed when the client has sent nothing for LINGER_MS, or has not stopped for MAX_LINGER_MS. While the process
 * is busy, the rest is read slowly: every chunk allocates memory, and garbage collection pauses the process.
 */
function discardRest (payload: Payload): void {
  const { socket } = payload
  if (socket.destroyed) return
  let linger: NodeJS.Timeout | undefined
  let lingersUntil = Infinity
  payload.on('error', () => {})
  payload.on('data', () => {
    if (performance.now() < lingersUntil) linger?.refresh()
    if (!turns.isExhausted) return
    payload.pause()
    setTimeout(() => { payload.resume() }, DISCARD_PAUSE_MS).unref()
  })
  payload.resume()
  // Node calls this when the response is sent.
  socket.destroySoon = () => {
    socket.end()
    lingersUntil = performance.now() + MAX_LINGER_MS
    linger = setTimeout(() => { socket.destroy() }, LINGER_MS)
    socket.once('close', () => { clearTimeout(linger) })
  }
}

function tooLarge (limit: number, bound: string | null = 'SERVICES_MAX_BODY_BYTES'): ServiceError {
  const setting = bound === null ? '' : ` (${bound})`
  return new ServiceError('body_too_large', `Request body is too large: more than ${limit} bytes${setting}`)
}

export default fp(bodyReader, { name: 'body-reader', fastify: '5.x', dependencies: ['bounds', 'active-requests'] })
