import { runConcurrently, sendOk, NDJSON_TYPE, send, type Request } from '../client.js'
import { OWN_BANK, OWNER, type Target } from '../target.js'
import { importPath, tinyImport } from '../texts.js'
import type { Input } from './input.js'

const MEMORIES = 49_999
const BANK = `/v1/banks/${OWN_BANK}`
const WIDTH = 20
/** Tags as many and as long as a filter may have. */
const TAGS = Array.from({ length: 100 }, (_, index) => `tags=${`t${index}`.padEnd(100, 'x')}`).join('&')
const METADATA = encodeURIComponent(JSON.stringify(Object.fromEntries(Array.from(
  { length: 200 }, (_, index) => [`k${index}`, index],
))))

const full = (more: string) => async (target: Target) => {
  await sendOk(target, { path: importPath(), headers: NDJSON_TYPE, body: tinyImport(MEMORIES, more) })
}

function many (
  name: string, about: string, requests: (target: Target) => Promise<Request[]> | Request[], more = '',
): Input {
  return {
    name,
    about,
    allowed: ['200', '400', '404', '413', '503'],
    prepare: full(more),
    run: async (target, tally) => {
      const all = await requests(target)
      await runConcurrently(WIDTH, all, async (request) => { tally.add(await send(target, request)) })
    },
  }
}

const repeated = (count: number, request: Request): Request[] => Array.from({ length: count }, () => request)
/** What an operator asks; the tests' gateway has no token of one. */
const operator = (path: string, body?: object): Request => (
  { path: `/v1/admin${path}`, principal: null, ...(body !== undefined && { body: JSON.stringify(body) }) }
)

/** What the pages of the console ask for, in a bank as big as one import makes it. */
export const console: readonly Input[] = [
  many('console-growth', 'the growth of a bank of 50,000 memories over 366 days, 40 times', () => (
    repeated(40, { path: `${BANK}/growth?days=366` })
  )),
  many('console-neighbours', '50 neighbours of a memory in a document of 50,000, 40 times', async (target) => {
    const { text } = await sendOk(target, { path: `${BANK}/memories?limit=1&offset=25000` })
    const id = /"memory_id":"([^"]+)"/.exec(text)?.[1]
    return repeated(40, { path: `${BANK}/memories/${id}/neighbours?before=50&after=50` })
  }, ',"document_id":"d"'),
  many('console-lists', '40 lists with an offset of 49,000, a total, and every filter, of which none matches', () => [
    ...repeated(10, { path: `${BANK}/memories?limit=200&offset=49000&total=true&order=oldest` }),
    ...repeated(10, { path: `${BANK}/memories?total=true&${TAGS}` }),
    ...repeated(10, { path: `${BANK}/memories?total=true&metadata=${METADATA}` }),
    ...repeated(10, {
      path: `${BANK}/memories?total=true&document_id=d&trust=untrusted&retained_after=2020-01-01T00:00:00Z`,
    }),
  ], ',"document_id":"d","tags":["t"]'),
  many('console-dry-runs', '40 dry runs of a forget of 50,000 memories, with samples', () => [
    ...repeated(20, { path: '/v1/forget', body: JSON.stringify({ bank_id: OWN_BANK, scope: 'all', dry_run: true }) }),
    ...repeated(20, { path: '/v1/forget', body: JSON.stringify({ bank_id: OWN_BANK, tags: ['t'], dry_run: true }) }),
  ], ',"tags":["t"]'),
  {
    name: 'console-access',
    about: 'reports of access over 1000 banks, rules, what-ifs, and the history of the process, 100 at a time',
    allowed: ['200', '400', '403', '404', '413', '503'],
    prepare: async (target) => {
      await runConcurrently(8, Array.from({ length: 1000 }, (_, index) => index), async (index) => {
        await sendOk(target, {
          path: '/v1/retain', principal: null, body: JSON.stringify({ bank_id: `seen-${index}`, content: 'x' }),
        })
      })
    },
    run: async (target, tally) => {
      const requests = [
        ...repeated(25, { path: '/v1/access?limit=200' }),
        ...repeated(25, operator(`/access?principal=${encodeURIComponent(OWNER)}&limit=200`)),
        ...repeated(25, operator('/access/check', { principal: OWNER, bank_id: OWN_BANK, permission: 'read' })),
        ...repeated(10, operator('/access/check', {
          principal: 'x'.repeat(100_000), bank_id: OWN_BANK, permission: 'read',
        })),
        ...repeated(25, operator('/access/rules')),
        ...repeated(25, operator('/history')),
      ]
      await runConcurrently(100, requests, async (request) => { tally.add(await send(target, request)) })
    },
  },
]
