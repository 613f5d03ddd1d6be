import { createHmac } from 'node:crypto'
import fc from '../../helpers/fast-check.js'
import t from 'tap'
import { isSigned, type SignatureRule } from '../../../lib/operations/webhook-sources.js'
import { anyUtf16 } from '../../helpers/arbitraries.js'
import { NOW } from '../../helpers/memories.js'

const RULE: SignatureRule = { secret: 'a shared secret', header: 'x-signature-256' }
const TIMED: SignatureRule = { ...RULE, timestampHeader: 'x-timestamp' }
const BODY = Buffer.from('{"content":"Alice moved to Lyon 😀"}')
const SECONDS = NOW / 1000

function sign (body: Buffer | string, secret = RULE.secret): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

function signTimed (timestamp: string, body = BODY): string {
  return sign(Buffer.concat([Buffer.from(`${timestamp}.`), body]))
}

async function check (
  headers: Record<string, string | string[]>, { rule = RULE, body = BODY, now = NOW } = {},
): Promise<boolean> {
  return await isSigned(rule, (name) => headers[name], body, now)
}

t.test('a published example of a signature is reproduced', async (t) => {
  // GitHub's documentation of webhooks gives these three values for testing.
  const rule = { secret: "It's a Secret to Everybody", header: 'x-hub-signature-256' }
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
  t.ok(await check({ 'x-hub-signature-256': signature }, { rule, body: Buffer.from('Hello, World!') }))
})

t.test('the digest is hex in either case, with or without sha256=', async (t) => {
  const digest = sign(BODY)
  for (const text of [digest, digest.toUpperCase(), `sha256=${digest}`, `SHA256=${digest}`, `  sha256=${digest} `]) {
    t.ok(await check({ 'x-signature-256': text }), text)
  }
})

t.test('any other text is not a signature', async (t) => {
  const digest = sign(BODY)
  for (const [about, header] of [
    ['nothing', ''],
    ['the scheme alone', 'sha256='],
    ['another scheme', `sha512=${digest}`],
    ['the scheme twice', `sha256=sha256=${digest}`],
    ['a digest cut short', digest.slice(0, -1)],
    ['a digest that goes on', `${digest}0`],
    ['one that is no hex', digest.replace(/.$/, 'g')],
    ['base64', createHmac('sha256', RULE.secret).update(BODY).digest('base64')],
    ['two digests', `${digest},${digest}`],
    ['that of another secret', sign(BODY, 'another')],
    ['that of an empty secret', sign(BODY, '')],
    ['that of another body', sign('{}')],
    ['a hash without a secret', '0'.repeat(64)],
    ['letters that only look like hex', '٠'.repeat(64)],
  ] as const) t.notOk(await check({ 'x-signature-256': header }), about)
  t.notOk(await check({}), 'no header')
  t.notOk(await check({ 'x-signature': digest }), 'another header')
  t.notOk(await check({ 'x-signature-256': [digest, digest] }), 'a header that is repeated')
  t.notOk(await check({ 'x-signature-256': [digest] }), 'a list')
})

t.test('the signature is computed over the exact bytes', async () => {
  await fc.assert(fc.asyncProperty(
    fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.nat(), fc.integer({ min: 1, max: 255 }),
    async (bytes, at, change) => {
      const body = Buffer.from(bytes)
      const headers = { 'x-signature-256': sign(body) }
      const changed = Buffer.from(body)
      changed[at % body.length]! ^= change
      return await check(headers, { body }) && !await check(headers, { body: changed }) &&
      !await check(headers, { body: body.subarray(1) })
    },
  ))
})

t.test('no text in the header causes an exception', async () => {
  await fc.assert(fc.asyncProperty(anyUtf16, anyUtf16, async (signature, timestamp) => (
    !await check({ 'x-signature-256': signature }) &&
      !await check({ 'x-signature-256': signature, 'x-timestamp': timestamp }, { rule: TIMED })
  )), { numRuns: 300 })
})

t.test('with a timestamp header the timestamp is signed too, and must be within five minutes of now', async (t) => {
  for (const [offset, accepted] of [
    [0, true], [-300, true], [300, true], [-301, false], [301, false], [-86_400, false],
  ] as const) {
    const timestamp = String(SECONDS + offset)
    t.equal(
      await check({ 'x-signature-256': signTimed(timestamp), 'x-timestamp': timestamp }, { rule: TIMED }), accepted,
      `${offset} s`,
    )
  }
  const old = String(SECONDS - 300)
  t.notOk(
    await check({ 'x-signature-256': signTimed(old), 'x-timestamp': old }, { rule: TIMED, now: NOW + 1 }),
    'a millisecond later it is too old',
  )
})

t.test('a timestamp that differs from the signed one is refused', async (t) => {
  const timestamp = String(SECONDS)
  t.notOk(
    await check({ 'x-signature-256': signTimed(timestamp), 'x-timestamp': String(SECONDS + 1) }, { rule: TIMED }),
    'moved',
  )
  t.notOk(await check({ 'x-signature-256': signTimed(timestamp) }, { rule: TIMED }), 'left out')
  t.notOk(
    await check({ 'x-signature-256': signTimed(timestamp), 'x-timestamp': [timestamp] }, { rule: TIMED }), 'a list',
  )
  t.notOk(
    await check({ 'x-signature-256': sign(BODY), 'x-timestamp': timestamp }, { rule: TIMED }),
    'a signature over the body alone',
  )
  t.notOk(
    await check({ 'x-signature-256': sign(`${timestamp}.{}`), 'x-timestamp': timestamp }, { rule: TIMED }),
    'another body',
  )
  t.ok(
    await check({ 'x-signature-256': signTimed(timestamp), 'x-timestamp': ` ${timestamp} ` }, { rule: TIMED }),
    'white space around it is ignored',
  )
})

t.test('a timestamp is Unix seconds in digits', async (t) => {
  for (const timestamp of [
    '', '0x69', `${SECONDS}.0`, `+${SECONDS}`, `-${SECONDS}`, '1e9', String(NOW), 'NaN', 'Infinity',
    '2026-01-15T10:00:00Z', '١٧٦٨٤٧١٢٠٠',
  ]) {
    t.notOk(
      await check({ 'x-signature-256': signTimed(timestamp), 'x-timestamp': timestamp }, { rule: TIMED }), timestamp,
    )
  }
})

t.test('without a timestamp header in the rule timestamps are ignored', async (t) => {
  t.ok(await check({ 'x-signature-256': sign(BODY), 'x-timestamp': '0' }))
})
