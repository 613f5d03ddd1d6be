import t from 'tap'
import { testApp } from '../helpers/app.js'
import { refused } from '../routes/support.js'

const { get, retain, inject } = await testApp(t)
await retain('b', 'Tea is 100% leaves.', { tags: ['100%', 'é'] })

/** Each is no UTF-8 or no percent-encoding. */
const WRONG = ['%ff', '%c3', '%e0%a4', '%c0%80', '%ed%a0%80', '100%', '%', '%4', '%zz']

await t.test('a query string that is not percent-encoded UTF-8 is refused', async (t) => {
  const urls = [
    '/v1/banks/b/memories?tags=', '/v1/banks/b/memories?tags=a&tags=', '/v1/banks?cursor=',
    '/v1/admin/banks?tenant_id=',
  ]
  for (const url of urls) {
    for (const wrong of WRONG) {
      refused(t, await get(url + wrong), 400, 'invalid_request', {
        detail: 'The query string must be percent-encoded UTF-8; a % is written as %25',
      })
    }
  }
})

await t.test('each value is looked at by itself, so two halves in different values are refused', async (t) => {
  refused(t, await get('/v1/banks/b/memories?tags=%c3&tags=%a9'), 400, 'invalid_request', { detail: /UTF-8/ })
})

await t.test('it is refused on every route, in a name and in a value', async (t) => {
  for (const url of ['/v1/whoami?bank_id=%ff', '/v1/banks?%ff=1', '/v1/banks/b?%ff', '/v1/admin/history?%ff=%ff']) {
    refused(t, await get(url), 400, 'invalid_request')
  }
  for (const url of ['/v1/recall?a=%ff', '/v1/retain?a=%ff', '/v1/admin/reload?a=%ff']) {
    t.equal((await inject({ method: 'POST', url, payload: {} })).statusCode, 400, url)
  }
})

await t.test('a path that is not percent-encoded UTF-8 is refused', async (t) => {
  for (const url of ['/v1/banks/%ff', '/v1/banks/%ff/memories', '/v1/banks/b/memories/%zz', '/%ff', '/console/%c3']) {
    refused(t, await get(url), 400, 'invalid_request', { detail: 'The URL is malformed' })
  }
})

await t.test('what is encoded rightly is decoded', async (t) => {
  for (const tag of ['100%25', '%C3%A9', '%c3%a9']) {
    t.equal((await get(`/v1/banks/b/memories?tags=${tag}&`)).json().memories.length, 1, tag)
  }
  t.same((await get('/v1/banks/b/memories?tags=100%2525')).json().memories, [])
})
