import { MAX_HEADER_BYTES } from '../../../plugins/auth/bearer.js'
import { sendOk, send, type Request } from '../client.js'
import { FOREIGN_BANK, OWN_BANK, OWNER, SOURCE, OUTSIDER, type Target } from '../target.js'
import type { Input } from './input.js'

const MB = 1_000_000
/** As long as a path or a header may be beside the other headers. */
const LONG = MAX_HEADER_BYTES - 1024
const MARKS = '\u0301\u0323'.repeat(30_000)

function each (name: string, about: string, requests: () => readonly Request[], more: Partial<Input> = {}): Input {
  return {
    name,
    about,
    run: async (target, tally) => { for (const request of requests()) tally.add(await send(target, request)) },
    ...more,
  }
}

const retain = (
  members: string, more: Partial<Request> = {},
): Request => ({ path: '/v1/retain', body: `{"bank_id":"${OWN_BANK}","content":"x"${members}}`, ...more })
/** Both callers, and a webhook that accepts any sender. */
const toAll = (body: string): Request[] => [
  { path: '/v1/retain', principal: OUTSIDER, body },
  { path: '/v1/recall', principal: OWNER, body },
  { path: `/v1/ingest/webhook/${SOURCE}`, principal: null, body },
]
const keys = (count: number) => Array.from({ length: count }, (_, index) => `"${index.toString(36)}":1`).join(',')

/** Configurations of a bank that must not be applied in part, and must be refused quickly. */
function oddConfigurations (): Request[] {
  const path = `/v1/banks/${OWN_BANK}/config`
  const bodies = [
    `{${keys(900_000)}}`,
    `{"access":[${'{},'.repeat(2 * MB)}{}]}`,
    `{"barriers":{"metadata":{"blocked_keys":[${'"k",'.repeat(2 * MB)}"k"]}}}`,
    `{"homeostasis":{"rate_limits":{${keys(700_000)}}}}`,
    `${'{"profile":'.repeat(700_000)}1${'}'.repeat(700_000)}`,
    `{"description":"${'d'.repeat(9 * MB)}"}`,
    '{"__proto__":{"description":"x"}}',
    '{"constructor":{"prototype":{}}}',
    'null', '[]', '"x"', '1e999',
  ]
  return bodies.flatMap((body) => [
    { method: 'PUT', path, body },
    { method: 'PATCH', path, body },
    {
      method: 'PATCH',
      path: `/v1/banks/${FOREIGN_BANK}/config`,
      principal: OUTSIDER,
      headers: { 'content-type': 'application/merge-patch+json' },
      body,
    },
  ])
}

/** Bodies and URLs that cost a parser much, or are read in two ways. */
export const parsing: readonly Input[] = [
  each('number-infinite', '1e999 as metadata, max_tokens, max_results and min_score', () => [
    retain(',"metadata":{"n":1e999}'),
    { path: '/v1/recall', body: `{"bank_id":"${OWN_BANK}","query":"x","max_tokens":1e999}` },
    { path: '/v1/recall', body: `{"bank_id":"${OWN_BANK}","query":"x","max_results":1e999}` },
    { path: '/v1/recall', body: `{"bank_id":"${OWN_BANK}","query":"x","min_score":-1e999}` },
    { path: '/v1/reflect', body: `{"bank_id":"${OWN_BANK}","query":"x","max_tokens":1e999}` },
    { path: '/v1/retain/batch', body: `{"bank_id":"${OWN_BANK}","items":[{"content":"x","metadata":{"n":-1e400}}]}` },
  ], { allowed: ['400'] }),
  each(
    'foreign-host', 'a Host of another name in dev mode, on the API and its page',
    () => ['/v1/whoami', '/v1/banks', '/openapi.json', '/docs'].map(
      (path) => ({ path, headers: { host: 'rebound.example' } }),
    ),
    { allowed: ['403'] },
  ),
  each('nested-arrays', '10 MB of [', () => toAll('['.repeat(10 * MB))),
  each('nested-arrays-closed', '5,000,000 arrays in each other', () => toAll(
    `${'['.repeat(5 * MB)}${']'.repeat(5 * MB)}`,
  )),
  each('nested-objects', '10 MB of {"a":', () => toAll('{"a":'.repeat(2 * MB))),
  each('deep-metadata', 'metadata of 60 and of 100,000 levels', () => [
    retain(`,"metadata":${'{"a":'.repeat(60)}1${'}'.repeat(60)}`),
    retain(`,"metadata":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`),
  ]),
  each('long-fraction', 'times with a fraction of 9 MB', () => [
    retain(`,"occurred_at":"2024-01-01T00:00:00.${'1'.repeat(9 * MB)}Z"`),
    retain(`,"expires_at":"2094-01-01T00:00:00.${'0'.repeat(9 * MB)}Z"`),
    {
      path: '/v1/recall',
      body: `{"bank_id":"${OWN_BANK}","query":"x","occurred_after":"2024-01-01T00:00:00.${'9'.repeat(9 * MB)}Z"}`,
    },
  ], { allowed: ['400', '413', '503'] }),
  each('long-numbers', 'numbers of 9 MB of digits', () => [
    retain(`,"metadata":{"n":${'9'.repeat(9 * MB)}}`),
    retain(`,"metadata":{"n":0.${'1'.repeat(9 * MB)}}`),
    { path: '/v1/recall', body: `{"bank_id":"${OWN_BANK}","query":"x","max_results":"${'1'.repeat(9 * MB)}"}` },
  ]),
  each(
    'long-strings', 'texts of 10 MB where short ones belong',
    () => ['content', 'document_id', 'source', 'occurred_at', 'bank_id'].map(
      (name) => ({
        path: '/v1/retain', body: `{"bank_id":"${OWN_BANK}","content":"x","${name}":"${'a '.repeat(5 * MB - 100)}"}`,
      }),
    ),
    { allowed: ['400', '413', '503'] },
  ),
  each(
    'long-keys', 'keys of 9 MB, in metadata and at the top',
    () => [retain(`,"metadata":{"${'k'.repeat(9 * MB)}":1}`), retain(`,"${'k'.repeat(9 * MB)}":1`)],
    { allowed: ['400', '413', '503'] },
  ),
  each('marked-keys', 'keys of 60,000 combining marks, of two kinds in turn', () => [1, 2, 80].map((count) => (
    retain(`,"metadata":{${Array.from({ length: count }, (_, index) => `"${index}${MARKS}":1`).join(',')}}`)
  )), { allowed: ['400', '413', '503'] }),
  each('many-keys', '900,000 unknown members', () => toAll(`{"content":"x",${keys(900_000)}}`)),
  each('duplicate-keys', 'one key 1,500,000 times', () => toAll(`{"content":"x",${'"a":1,'.repeat(1_500_000)}"b":1}`)),
  each('escapes', '9 MB of escaped characters', () => toAll(
    `{"content":"${'\\u0061'.repeat(1_500_000)}","bank_id":"${OWN_BANK}","query":"x"}`,
  )),
  each('white-space', '10 MB of white space around a body', () => toAll(
    `${' '.repeat(5 * MB)}{}${'\n'.repeat(5 * MB)}`,
  )),
  each('huge-url', 'paths and queries as long as a head may be', () => [
    { path: `/v1/banks/${'a'.repeat(LONG)}` },
    { path: `/v1/banks/${'%61'.repeat(LONG / 3)}/memories` },
    { path: `/v1/banks/${OWN_BANK}/memories?${'tags=a&'.repeat(LONG / 7)}` },
    { path: `/v1/banks/${OWN_BANK}/memories?cursor=${'A'.repeat(LONG)}` },
    { path: `/v1/banks?${Array.from({ length: 4000 }, (_, index) => `q${index}=1`).join('&')}` },
    { path: `/v1/banks/${'a'.repeat(2 * MAX_HEADER_BYTES)}` },
    { path: `/${'/'.repeat(LONG)}` },
    {
      path: '/v1/whoami',
      headers: { 'x-request-id': 'r'.repeat(LONG - 1000), 'x-service-on-behalf-of': 'o'.repeat(500) },
    },
  ], { allowed: ['200', '400', '404', '414', '431', 'closed'] }),
  each('odd-configurations', 'PUT and PATCH of a configuration with odd and huge maps', oddConfigurations, {
    prepare: async (target: Target) => { await sendOk(target, retain('')) },
  }),
]
