import t from 'tap'
import { testApp } from '../helpers/app.js'
import { testConfig } from '../helpers/config.js'
import { refused } from './support.js'

t.test('no page of another origin can reload: a request without the media type of JSON is refused', async (t) => {
  let reads = 0
  const app = await testApp(t, {}, {}, { reloadConfig: () => { reads++; return testConfig() } })
  const url = '/v1/admin/reload'
  const simple = [
    {}, { payload: '{}', headers: { 'content-type': 'text/plain' } },
    { payload: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    { payload: '{}', headers: { 'content-type': 'text/plain; application/json' } },
  ]
  for (const request of simple) {
    refused(t, await app.inject({ method: 'POST', url, ...request }), 415, 'unsupported_media_type')
  }
  t.equal(reads, 0)
  t.equal((await app.post(url, {}, { 'content-type': 'Application/JSON; charset=utf-8' })).statusCode, 200)
  t.equal(reads, 1)
})
