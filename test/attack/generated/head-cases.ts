import { MAX_PARAM_LENGTH } from '../../../app.js'
import { MAX_HEADER_BYTES } from '../../../plugins/auth/bearer.js'
import type { Request } from '../client.js'
import { KINDS, MAX_CONTENT_LENGTH } from '../texts.js'
import type { Case } from './case.js'
import type { Json, Operation, Schema } from './schema-walk.js'
import { isFreeText } from './within-bounds.js'

/*
 * Requests with long and hostile URLs and headers.
 */

/** What is left of a head for a long value, beside the shortest of the other headers and the path. */
const HEAD_ROOM = MAX_HEADER_BYTES - 1024
/** The length of a text for which the document has no bound, and which is still no long one. */
const USUAL_LENGTH = 255

type Named = readonly [name: string, value: string]

const repeated = (piece: string, length: number) => piece.repeat(Math.max(1, Math.floor(length / piece.length)))
const numbered = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => (
  make(index)
))

/** A percent-escaped text that is as long as fits. */
function escaped (text: string, room: number): string {
  const whole = encodeURIComponent(text)
  // It does not end within an escape.
  return whole.length <= room ? whole : whole.slice(0, room).replace(/%[0-9A-F]?$/, '')
}

/** @param sample a valid request of the operation */
export function queryCases ({ method, path, query }: Operation, sample: Request): Case[] {
  const texts = query.flatMap(({ name, schema }) => [
    ...beyond(name), ...within(schema).map(([what, text]) => [`${name}: ${what}`, `${name}=${text}`] as const),
  ])
  return texts.map(([name, text]) => ({
    name: `${method} ${path} ?${name}`, request: () => ({ ...sample, path: `${sample.path}?${text}` }),
  }))
}

function beyond (name: string): Named[] {
  return [
    [`${name}: long`, `${name}=${'a'.repeat(HEAD_ROOM)}`],
    [`${name}: long number`, `${name}=${'9'.repeat(HEAD_ROOM)}`],
    [`${name}: escapes`, `${name}=${repeated('%00', HEAD_ROOM)}`],
    [`${name}: escapes that are wrong`, `${name}=${repeated('%', HEAD_ROOM)}`],
    [`${name}: again and again`, numbered(HEAD_ROOM / (name.length + 3), () => `${name}=1`).join('&')],
    [`${name}: members`, numbered(500, (index) => `${name}[${index}]=1`).join('&')],
    [`${name}: empty`, `${name}=`],
    [`${name}: 1e999`, `${name}=1e999`],
    [`${name}: unknown beside it`, `${name}=1&${numbered(3000, (index) => `q${index}`).join('&')}`],
  ]
}

/** Texts of the longest length that the document allows. */
function within (schema: Schema): Named[] {
  if (!isFreeText(schema)) return []
  const length = Math.min(schema.maxLength ?? USUAL_LENGTH, MAX_CONTENT_LENGTH)
  return [
    ...Object.entries(KINDS).map(
      ([kind, text]) => [`${length} characters of ${kind}`, escaped(text(length, 1), HEAD_ROOM)] as const,
    ),
    [`${length} letters`, 'a'.repeat(Math.min(length, HEAD_ROOM))],
    [`${length} spaces`, '+'.repeat(Math.min(length, HEAD_ROOM))],
  ]
}

/** Each part of a path that a caller fills, with the others valid. */
export function pathCases (
  { method, path, pathParameters }: Operation, sample: Request, known: Readonly<Record<string, Json>>,
): Case[] {
  return pathParameters.flatMap(({ name }) => PARTS.map(([what, part]) => ({
    name: `${method} ${path} {${name}}: ${what}`,
    request: () => ({
      ...sample,
      path: path.replaceAll(/\{([^}]+)\}/g, (_, other: string) => (
        other === name ? part : typeof known[other] === 'string' ? known[other] : 'a'
      )),
    }),
  })))
}

/** Parts of a path: at its bounds, and with escapes that become control characters, slashes or nothing valid. */
const PARTS: readonly Named[] = [
  ...[USUAL_LENGTH, USUAL_LENGTH + 1, MAX_PARAM_LENGTH - 1, MAX_PARAM_LENGTH, MAX_PARAM_LENGTH + 1, HEAD_ROOM].map(
    (length) => [`${length} letters`, 'a'.repeat(length)] as const,
  ),
  ...[
    '%61', '%00', '%0A', '%0d%0a', '%1b', '%7F', '%C2%85', '%E2%80%AE', '%EF%BF%BF', '%F0%9F%8D%B5', '%25', '%2500',
    '%2F', '%2e%2e%2f', '%5c', '%3f', '%23', '%ff', '%c0%af', '%ed%a0%80', '%', '%zz', '..', '*', ':', ';a=b', '@',
  ].flatMap((piece) => [
    [`${piece}`, `a${piece}`] as const,
    [`${MAX_PARAM_LENGTH} characters of ${piece}`, repeated(piece, MAX_PARAM_LENGTH)] as const,
    [`${piece} as long as a head`, repeated(piece, HEAD_ROOM)] as const,
  ]),
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
]

/** The headers that the document describes, those that the server reads for every request, and many. */
export function headerCases ({ method, path, headers }: Operation, sample: Request): Case[] {
  const described = headers.flatMap(({ name, schema: { maxLength = USUAL_LENGTH } }) => [
    ...[maxLength - 1, maxLength, maxLength + 1].flatMap((length) => [
      header(name, `${length} letters`, 'a'.repeat(length)),
      header(name, `${length} of quoted letters`, `"${'a'.repeat(length - 2)}"`),
      header(name, `${length} of a list`, repeated('"a",', length)),
    ]),
    ...VALUES.map(([what, value]) => header(name, what, value)),
    header(name, 'again and again', numbered(500, (index) => `"${index}"`)),
  ])
  return [...described, ...READ_BY_ALL].map(([name, more]) => ({
    name: `${method} ${path} with ${name}`,
    request: () => ({ ...sample, headers: { ...sample.headers, ...more } }),
  }))
}

type Headers = NonNullable<Request['headers']>
const header = (name: string, what: string, value: string | string[]): [string, Headers] => (
  [`${name}: ${what}`, { [name]: value }]
)

/** As long as a head allows. */
const VALUES: readonly Named[] = ['a', '"', '"a",', 'W/"a", ', ',', '\\', '"\\"', 'a b', '\u00ff', '*', '9', '='].map(
  (piece) => [`${JSON.stringify(piece)} as long as a head`, repeated(piece, HEAD_ROOM)] as const,
)

const READ_BY_ALL: ReadonlyArray<readonly [string, Headers]> = [
  header('accept', 'ranges', repeated('a/b;q=0.1,', HEAD_ROOM)),
  header('accept', 'parameters', `text/event-stream${repeated(';a=b', HEAD_ROOM)}`),
  header('accept', 'quotes', repeated('a/b;c="\\"",', HEAD_ROOM)),
  header('accept-encoding', 'codings', repeated('gzip;q=0,', HEAD_ROOM)),
  header('content-encoding', 'codings', repeated('gzip,', HEAD_ROOM)),
  header('content-type', 'parameters', `application/json${repeated(';a=b', HEAD_ROOM)}`),
  header('content-type', 'spaces', `application/json${' '.repeat(HEAD_ROOM)};`),
  header('authorization', 'a long token', `Bearer ${'a.'.repeat(HEAD_ROOM / 2 - 4)}`),
  header('cookie', 'many', repeated('a=b; ', HEAD_ROOM)),
  header('connection', 'many', repeated('a,', HEAD_ROOM)),
  header('origin', 'long', `https://${'a'.repeat(HEAD_ROOM)}`),
  header('host', 'long', 'a'.repeat(HEAD_ROOM)),
  header('traceparent', 'long', repeated('00-', HEAD_ROOM)),
  header('tracestate', 'members', repeated('a=b,', HEAD_ROOM)),
  header('x-request-id', 'long', 'a'.repeat(HEAD_ROOM)),
  header('x-forwarded-for', 'addresses', repeated('1.1.1.1, ', HEAD_ROOM)),
  header('x-service-principal', 'long', `user:${'a'.repeat(HEAD_ROOM)}`),
  header('x-service-principal', '500 times', numbered(500, (index) => `user:${index}`)),
  header('x-service-on-behalf-of', 'long', `user:${'a'.repeat(HEAD_ROOM)}`),
  ...[500, 1900, 2500].map((count) => (
    [`${count} headers`, Object.fromEntries(numbered(count, (index) => [`h${index}`, '1'] as const))] as const
  )),
  ['one header 2500 times', { h: numbered(2500, () => '1') }],
]
