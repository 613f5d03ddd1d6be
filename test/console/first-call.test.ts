import { execFileSync } from 'node:child_process'
import t from 'tap'
import { firstCall, ownBankOf } from '../../console/src/text/first-call.js'

const GATEWAY = new URL('https://memory.example/under/')

t.test('the call has the host, the bank and the headers of the auth mode', async (t) => {
  const caller = { principal: 'user:alice' }
  const dev = firstCall(GATEWAY, 'user-alice', { ...caller, mode: 'dev' })
  t.match(dev, "curl 'https://memory.example/under/v1/retain'")
  t.match(dev, '"bank_id":"user-alice"')
  t.match(dev, "-H 'X-Service-Principal: user:alice'")
  t.notMatch(firstCall(GATEWAY, 'b', { principal: null, mode: 'dev' }), /X-Service-Principal/)
  const key = firstCall(GATEWAY, 'b', { ...caller, mode: 'api_key' })
  t.match(key, '-H "X-Api-Key: $SERVICE_API_KEY"')
  t.match(key, "-H 'X-Service-Principal: user:alice'")
  for (const mode of ['jwt_hs256', 'jwt_oidc'] as const) {
    const token = firstCall(GATEWAY, 'b', { ...caller, mode })
    t.match(token, '-H "Authorization: Bearer $TOKEN"')
    t.notMatch(token, /X-Service-Principal/, 'the token names the caller')
  }
  t.notMatch(firstCall(GATEWAY, 'b', { ...caller, mode: 'host' }), /X-Service-Principal|Authorization/)
})

t.test('a principal with the characters of a shell stays one argument', async (t) => {
  const call = firstCall(GATEWAY, 'b', { principal: "user:o'neil$(id)`id`", mode: 'dev' })
  const output = execFileSync('sh', ['-c', `curl () { printf '%s\\n' "$@"; }\n${call}`], { encoding: 'utf8' })
  t.same(output.trimEnd().split('\n'), [
    'https://memory.example/under/v1/retain',
    '-H', 'Content-Type: application/json', '-H', "X-Service-Principal: user:o'neil$(id)`id`",
    '-d', '{"bank_id":"b","content":"Alice drinks green tea in the morning."}',
  ])
})

t.test('the bank is the one that the caller would own', async (t) => {
  t.equal(ownBankOf('user:alice'), 'user-alice')
  t.equal(ownBankOf(null), 'my-bank')
  t.equal(ownBankOf('user:../x'), 'my-bank')
})
