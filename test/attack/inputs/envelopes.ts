import { JSON_TYPE, send, type Request } from '../client.js'
import { FOREIGN_BANK, SOURCE, OUTSIDER } from '../target.js'
import type { Input } from './input.js'

const many = (text: string, count: number) => `${`${text},`.repeat(count - 1)}${text}`

/** One body, of a caller without any right. */
function one (name: string, about: string, request: () => Request, more: Partial<Input> = {}): Input {
  return {
    name,
    about,
    run: async (target, tally) => { tally.add(await send(target, { principal: OUTSIDER, ...request() })) },
    ...more,
  }
}

/** Bodies with far more elements than a schema allows. */
export const envelopes: readonly Input[] = [
  one(
    'batch-empty-items', 'a batch of 3,000,001 items {}',
    () => ({ path: '/v1/retain/batch', body: `{"bank_id":"${FOREIGN_BANK}","items":[${many('{}', 3_000_001)}]}` }),
  ),
  one(
    'banks-bad', 'a recall over 2,000,000 banks whose names are wrong',
    () => ({ path: '/v1/recall', body: `{"query":"x","banks":[${many('"!"', 2_000_000)}]}` }),
  ),
  one(
    'memory-ids-bad', 'a forget of 3,000,000 ids that are none',
    () => ({ path: '/v1/forget', body: `{"bank_id":"${FOREIGN_BANK}","memory_ids":[${many('"a"', 2_600_000)}]}` }),
  ),
  one(
    'tags-numbers', 'a recall with 3,000,000 tags that are numbers',
    () => ({ path: '/v1/recall', body: `{"query":"x","bank_id":"${FOREIGN_BANK}","tags":[${many('1', 3_000_000)}]}` }),
  ),
  one('metadata-bad', 'a retain with 700,000 metadata values that are lists', () => {
    const members = Array.from({ length: 700_000 }, (_, index) => `"${index.toString(36)}":[]`)
    return { path: '/v1/retain', body: `{"bank_id":"${FOREIGN_BANK}","content":"x","metadata":{${members.join(',')}}}` }
  }),
  one(
    'webhook-tags', 'a webhook without a signature, with 4,000,000 tags',
    () => ({
      path: `/v1/ingest/webhook/${SOURCE}`, principal: null, body: `{"content":"x","tags":[${many('1', 4_000_000)}]}`,
    }),
  ),
  one('items-at-the-limit', 'a batch of 1000 items with 100 tags each', () => {
    const item = JSON.stringify({ content: 'x', tags: Array.from({ length: 100 }, (_, index) => `t${index}`) })
    return { path: '/v1/retain/batch', body: `{"bank_id":"${FOREIGN_BANK}","items":[${many(item, 1000)}]}` }
  }),
  {
    name: 'envelopes-at-once',
    about: '20 bodies at a time of 3 MB of items {}, with and without rights',
    run: async (target, tally) => {
      const body = `{"bank_id":"${FOREIGN_BANK}","items":[${many('{}', 1_000_000)}]}`
      tally.add(
        ...await Promise.all(Array.from({ length: 20 }, async (_, index) => (
          await send(target, {
            path: '/v1/retain/batch', principal: index % 2 === 0 ? null : OUTSIDER, headers: JSON_TYPE, body,
          })
        ))),
      )
    },
  },
]
