import fc from '../helpers/fast-check.js'
import type { InjectOptions } from 'fastify'
import { contentTypes, oddHeader, oddSegment, oddText, oddValue, toJson, type JsonValue } from './odd-values.js'
import { BANKS, type RequestParts } from './valid-requests.js'

const METHODS = [
  'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND', 'MKCOL', 'get',
]
const HEADERS = [
  'x-request-id', 'idempotency-key', 'authorization', 'x-service-principal', 'x-service-on-behalf-of', 'x-api-key',
  'x-admin-token', 'x-signature-256', 'x-timestamp', 'accept', 'accept-encoding', 'content-encoding', 'content-length',
  'cookie', 'range', 'if-none-match', 'origin', 'host', 'expect', 'x-forwarded-for', 'x-http-method-override',
  '__proto__',
]
const QUERY_NAMES = [
  'limit', 'cursor', 'tags', 'tags_match', 'tags[]', 'bank_id', 'tenant_id', 'on_conflict', '__proto__', 'constructor',
  '', 'x',
]

/** A request as it goes out. */
export interface Wire {
  method: string
  url: string
  headers: Record<string, string>
  payload?: string | Buffer
}

export function toWire ({ method, path, params, query, headers, body }: RequestParts): Wire {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '')
  const search = query.map(([name, value]) => (
    `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`
  )).join('&')
  return {
    method,
    url: search === '' ? filled : `${filled}?${search}`,
    headers,
    ...(body !== undefined && { payload: isText(body) ? body.text : toJson(body) }),
  }
}

/** `fresh` credentials do not overwrite what a mutation has put there. */
export function toInject (wire: Wire, credentials: Record<string, string>): InjectOptions {
  const { method, url, headers, payload } = wire
  return {
    method: method as NonNullable<InjectOptions['method']>,
    url,
    headers: { ...credentials, ...headers },
    ...(payload !== undefined && { payload }),
  }
}

function isText (body: JsonValue | { text: string }): body is { text: string } {
  return typeof body === 'object' && body !== null && 'text' in body && Object.keys(body).length === 1
}

const header = fc.tuple(fc.constantFrom(...HEADERS), oddHeader)
const headers = fc.array(header, { maxLength: 3 }).map((entries) => Object.fromEntries(entries))
const query = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...QUERY_NAMES), oddText), oddText), { maxLength: 3 })

/** A random request whose path resembles that of a route. */
export function randomRequest (paths: readonly string[]): fc.Arbitrary<Wire> {
  const path = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.tuple(fc.constantFrom(...paths), fc.array(
        fc.oneof(oddSegment, fc.constantFrom(...BANKS)), { minLength: 2, maxLength: 2 },
      )).map(([path, parts]) => path.replace(/:\w+/g, () => parts.pop() ?? '')),
    },
    { weight: 1, arbitrary: fc.array(oddSegment, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`) },
    { weight: 1, arbitrary: fc.array(oddSegment, { maxLength: 3 }).map((parts) => `/v1/${parts.join('/')}`) },
  )
  const payload = fc.oneof(
    { weight: 4, arbitrary: oddValue.map(toJson) },
    {
      weight: 2,
      arbitrary: fc.dictionary(
        fc.constantFrom(
          'bank_id', 'content', 'query', 'banks', 'items', 'tags', 'metadata', 'scope', 'memory_ids', 'x',
        ),
        oddValue, { maxKeys: 4 },
      ).map(toJson),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: oddText },
  )
  return fc.record({
    method: fc.oneof({ weight: 3, arbitrary: fc.constant('POST') }, { weight: 2, arbitrary: fc.constant('GET') }, {
      weight: 2, arbitrary: fc.constantFrom(...METHODS),
    }),
    path,
    query,
    headers,
    type: fc.option(
      fc.oneof({ weight: 3, arbitrary: fc.constant('application/json') }, { weight: 1, arbitrary: contentTypes }),
      { nil: undefined },
    ),
    payload: fc.option(payload, { nil: undefined }),
  }).map(({ method, path, query, headers, type, payload }): Wire => ({
    ...toWire({
      method, path, params: {}, query, headers: { ...headers, ...(type !== undefined && { 'content-type': type }) },
    }),
    ...(payload !== undefined && { payload }),
  }))
}

type Mutation = (parts: RequestParts) => RequestParts | Wire

/** A valid request with one to three things mutated. */
export function mutatedRequest (valid: readonly RequestParts[]): fc.Arbitrary<Wire> {
  const [posts, others] =
    [valid.filter(({ body }) => body !== undefined), valid.filter(({ body }) => body === undefined)]
  const start = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...posts) }, {
    weight: 1, arbitrary: fc.constantFrom(...others),
  })
  return fc.tuple(start, fc.array(fc.oneof({ weight: 4, arbitrary: bodyMutation }, {
    weight: 1, arbitrary: outerMutation,
  }, { weight: 1, arbitrary: queryMutation }), { minLength: 1, maxLength: 3 }), fc.oneof(
    { weight: 7, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: textMutation },
  ))
    .map(([start, mutations, last]) => {
      const parts = mutations.reduce<RequestParts>((current, mutate) => ({ ...current, ...mutate(current) }), start)
      const wire = toWire(parts)
      return last === undefined || wire.payload === undefined
        ? wire
        : { ...wire, payload: last(Buffer.from(wire.payload)) }
    })
}

const outerMutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.constantFrom(...METHODS).map((method): Mutation => (parts) => ({ ...parts, method })),
  header.map(([name, value]): Mutation => (parts) => ({ ...parts, headers: { ...parts.headers, [name]: value } })),
  contentTypes.map((type): Mutation => (parts) => ({ ...parts, headers: { ...parts.headers, 'content-type': type } })),
  fc.constantFrom('content-type', 'idempotency-key').map((name): Mutation =>
    (parts) => ({
      ...parts, headers: Object.fromEntries(Object.entries(parts.headers).filter(([key]) => key !== name)),
    }),
  ),
  fc.tuple(fc.constantFrom('bank_id', 'memory_id', 'source_id'), oddSegment).map(
    ([name, segment]): Mutation => (parts) => ({ ...parts, params: { ...parts.params, [name]: segment } }),
  ),
  fc.constantFrom('/', '//', '?', '#x', '/x', '%2f').map((tail): Mutation =>
    (parts) => ({ ...parts, path: `${parts.path}${tail}` }),
  ),
)

const queryMutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(query, fc.boolean())
    .map(([more, keep]): Mutation => (parts) => ({ ...parts, query: keep ? [...parts.query, ...more] : more })),
  fc.tuple(fc.nat(), oddText).map(([which, value]): Mutation => (parts) => ({
    ...parts,
    query: parts.query.map((entry, index) => index === which % parts.query.length ? [entry[0], value] : entry),
  })),
)

/** One field somewhere in the body: gone, another value, twice, under another name; or an unknown one beside it. */
const bodyMutation: fc.Arbitrary<Mutation> = fc.tuple(
  fc.constantFrom('drop', 'retype', 'wrap', 'rename', 'add', 'repeat', 'whole'), fc.nat(), oddValue, oddText,
).map(([kind, which, value, name]): Mutation => (parts) => {
  const { body } = parts
  if (body === undefined) return parts
  if (isText(body)) {
    // Lines of an import: one of them is mutated like a body.
    const lines = body.text.split('\n')
    const at = which % lines.length
    const line = parseLine(lines[at]!)
    return {
      ...parts,
      body: {
        text: lines.with(at, toJson(line === undefined ? value : mutate(line, kind, which, value, name))).join('\n'),
      },
    }
  }
  return { ...parts, body: mutate(body, kind, which, value, name) }
})

function parseLine (line: string): JsonValue | undefined {
  // A value that an earlier mutation nested too deeply cannot be serialized.
  if (line.includes('[[[[') || line.includes('{"a":{"a":{"a":')) return undefined
  try {
    return JSON.parse(line) as JsonValue
  } catch {
    return undefined
  }
}

function mutate (body: JsonValue, kind: string, which: number, value: JsonValue, name: string): JsonValue {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || kind === 'whole') {
    return kind === 'wrap' ? [body] : value
  }
  const entries = Object.entries(body)
  const at = which % (entries.length + 1)
  const [key, old] = entries[at] ?? [name, value]
  // Every other time the mutation goes one level down, into items and metadata.
  if (which % 2 === 0 && typeof old === 'object' && old !== null) {
    const inner = Array.isArray(old)
      ? old.map((item, index) => index === which % old.length ? mutate(item, kind, which >> 1, value, name) : item)
      : mutate(old, kind, which >> 1, value, name)
    return { ...body, [key]: inner }
  }
  switch (kind) {
    case 'drop': return Object.fromEntries(entries.filter((_, index) => index !== at))
    case 'wrap': return { ...body, [key]: [old, old] }
    case 'rename': return Object.fromEntries(entries.map(([entry, current], index) => [
      index === at ? name : entry, current,
    ]))
    case 'add': return { ...body, [name]: value }
    // Two members of one name, which only JSON text can have.
    case 'repeat': return { ...body, [key]: old, [`${key}\u0001`]: value }
    default: return { ...body, [key]: value }
  }
}

const textMutation = fc.tuple(
  fc.constantFrom('cut', 'flip', 'bom', 'double', 'pad'), fc.nat(),
).map(([kind, at]) => (bytes: Buffer): Buffer => {
  const place = bytes.length === 0 ? 0 : at % bytes.length
  switch (kind) {
    case 'cut': return bytes.subarray(0, place)
    case 'flip': return Buffer.concat([bytes.subarray(0, place), Buffer.from([at % 256]), bytes.subarray(place + 1)])
    case 'bom': return Buffer.concat([Buffer.from('\ufeff'), bytes])
    case 'double': return Buffer.concat([bytes, bytes])
    case 'pad': return Buffer.concat([bytes, Buffer.alloc(2048, ' ')])
  }
})
