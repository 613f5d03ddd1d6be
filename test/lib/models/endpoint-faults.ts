import { gzipSync } from 'node:zlib'
import {
  answering, cutInTheMiddle, endless, hangUp, silent, slow, stallInTheMiddle, type Behaviour,
} from '../../helpers/model-server.js'
import { KEY, TEXT, type Fault } from './provider-faults.js'

const twice = (behaviour: Behaviour) => [behaviour, behaviour]

/** What may go wrong with any endpoint. */
export const ENDPOINT_FAULTS: Fault[] = [
  { name: 'a slow answer', script: [slow(30)], outcome: 'right', asked: 1 },
  { name: 'no answer once', script: [silent], outcome: 'right', asked: 2, timeoutMs: 2000 },
  {
    name: 'never an answer',
    script: twice(silent),
    outcome: ['timeout', /did not answer within 2000 ms/],
    asked: 2,
    timeoutMs: 2000,
  },
  {
    name: 'an answer that stops',
    script: twice(stallInTheMiddle),
    outcome: ['timeout', /did not answer within 2000 ms/],
    asked: 2,
    timeoutMs: 2000,
  },
  { name: 'a connection that is closed once', script: [hangUp], outcome: 'right', asked: 2 },
  {
    name: 'a connection that is always closed',
    script: twice(hangUp),
    outcome: ['unreachable', /cannot be reached \(UND_ERR_SOCKET\)/],
    asked: 2,
  },
  { name: 'an answer that is cut once', script: [cutInTheMiddle], outcome: 'right', asked: 2 },
  {
    name: 'an answer that is always cut',
    script: twice(cutInTheMiddle),
    outcome: ['unreachable', /broke off its answer \(UND_ERR_SOCKET\)/],
    asked: 2,
  },
  { name: '500 once', script: [answering(500, '')], outcome: 'right', asked: 2, pauses: [125] },
  {
    name: '500 and 503',
    script: [answering(500, ''), answering(503, 'down')],
    outcome: ['unreachable', /answered 503$/],
    asked: 2,
  },
  { name: '408', script: twice(answering(408, '')), outcome: ['unreachable', /answered 408$/], asked: 2 },
  { name: '409', script: twice(answering(409, '')), outcome: ['unreachable', /answered 409$/], asked: 2 },
  {
    name: '429 with seconds',
    script: [answering(429, '', { 'retry-after': '2' })],
    outcome: 'right',
    asked: 2,
    pauses: [2125],
  },
  {
    name: '429 with half a second',
    script: [answering(429, '', { 'retry-after': '0.5' })],
    outcome: 'right',
    asked: 2,
    pauses: [625],
  },
  {
    name: '429 with a date',
    script: [answering(429, '', { 'retry-after': 'Thu, 15 Jan 2026 10:00:07 GMT' })],
    outcome: 'right',
    asked: 2,
    pauses: [7125],
  },
  {
    name: '429 with a date that is past',
    script: [answering(429, '', { 'retry-after': 'Thu, 15 Jan 2026 09:00:00 GMT' })],
    outcome: 'right',
    asked: 2,
    pauses: [125],
  },
  {
    name: '429 with nonsense',
    script: [answering(429, '', { 'retry-after': 'soon' })],
    outcome: 'right',
    asked: 2,
    pauses: [125],
  },
  {
    name: '429 for an hour',
    script: [answering(429, '{"error":{"code":"insufficient_quota"}}', { 'retry-after': '3600' })],
    outcome: ['rate_limited', /answered 429 \(insufficient_quota\)$/],
    asked: 1,
  },
  {
    name: '503 with seconds',
    script: [answering(503, '', { 'retry-after': '2' })],
    outcome: 'right',
    asked: 2,
    pauses: [2125],
  },
  {
    name: '400',
    script: [
      answering(400, JSON.stringify({
        error: { message: `wrong: ${TEXT}`, type: 'invalid_request_error', code: null },
      })),
    ],
    outcome: ['rejected', /answered 400 \(invalid_request_error\)$/],
    asked: 1,
  },
  {
    name: '401',
    script: [answering(401, JSON.stringify({ error: { message: `Incorrect key ${KEY}`, code: 'invalid_api_key' } }))],
    outcome: ['rejected', /answered 401 \(invalid_api_key\)$/],
    asked: 1,
  },
  {
    name: '401 with the key as its code',
    script: [answering(401, JSON.stringify({ code: KEY, type: KEY.slice(3) }))],
    outcome: ['rejected', /answered 401$/],
    asked: 1,
  },
  { name: '403', script: [answering(403, '<html>Forbidden</html>')], outcome: ['rejected', /answered 403$/], asked: 1 },
  {
    name: '404',
    script: [answering(404, '{"type":"model_not_found"}')],
    outcome: ['rejected', /answered 404 \(model_not_found\)$/],
    asked: 1,
  },
  {
    name: '422',
    script: [answering(422, JSON.stringify({ detail: [{ input: TEXT }] }))],
    outcome: ['rejected', /answered 422$/],
    asked: 1,
  },
  {
    name: '400 with an endless page',
    script: [answering(400, 'x'.repeat(1024 * 1024))],
    outcome: ['rejected', /answered 400$/],
    asked: 1,
  },
  {
    name: 'a page of HTML',
    script: [answering(200, '<html>Welcome</html>')],
    outcome: ['unusable', /answered with something else/],
    asked: 1,
  },
  {
    name: 'JSON of another kind',
    script: [answering(200, '{"ok":true}')],
    outcome: ['unusable', /answered with something else/],
    asked: 1,
  },
  { name: 'null', script: [answering(200, 'null')], outcome: ['unusable', /answered with something else/], asked: 1 },
  { name: 'no body', script: [answering(200, '')], outcome: ['unusable', /answered with something else/], asked: 1 },
  {
    name: 'a body that is big when it is decompressed',
    script: [answering(200, gzipSync(Buffer.alloc(8 * 1024 * 1024, ' ')), { 'content-encoding': 'gzip' })],
    outcome: ['unusable', /answered with more than \d+ bytes/],
    asked: 1,
  },
  {
    name: 'a body without end', script: [endless], outcome: ['unusable', /answered with more than \d+ bytes/], asked: 1,
  },
]
