import { runConcurrently, sendOk, NDJSON_TYPE, send, type Request } from '../client.js'
import { OWN_BANK, type Target } from '../target.js'
import { batchBody, fillBank, fillDocument, importPath, KINDS, MAX_CONTENT_LENGTH, tinyImport } from '../texts.js'
import type { Input } from './input.js'

const configuration = 'compatibility: { hindsight: true }\n'
const BANK = `/v1/default/banks/${OWN_BANK}`
/** What one request may go through, and more than that. */
const WALKED = 9999
const TOO_MANY = 49_999
const allowed = ['200', '400', '404', '413', '501', '503']

const fill = (memories: number, more = '') => async (target: Target) => {
  await sendOk(target, { path: importPath(), headers: NDJSON_TYPE, body: tinyImport(memories, more) })
}

/** Documents with as many tags as a table shows, and memories with as many members of metadata as tags. */
const DOCUMENTS = 150
const MEMORIES_OF_DOCUMENT = 16
const MEMBERS = 62

/** An import in which no two memories share a tag or a member of metadata. */
function differentMembers (): string {
  const lines = ['{"format":"memory-gateway-export","version":1,"bank_id":"any"}']
  for (let index = 0; index < DOCUMENTS * MEMORIES_OF_DOCUMENT; index++) {
    const names = Array.from({ length: MEMBERS }, (_, member) => `m${index}x${member}`)
    lines.push(JSON.stringify({
      text: `Note ${index}`,
      document_id: `d${index % DOCUMENTS}`,
      tags: names,
      metadata: Object.fromEntries(names.map((name) => [name, index])),
    }))
  }
  return `${lines.join('\n')}\n`
}

const json = (path: string, body: object): Request => ({ path: `${BANK}${path}`, body: JSON.stringify(body) })

function many (
  name: string, about: string, width: number, requests: () => Request[], prepare?: Input['prepare'],
): Input {
  return {
    name,
    about,
    configuration,
    allowed,
    ...(prepare !== undefined && { prepare }),
    run: async (target, tally) => {
      await runConcurrently(width, requests(), async (request) => { tally.add(await send(target, request)) })
    },
  }
}

/** Hindsight's API, whose routes are not in the OpenAPI document. */
export const hindsight: readonly Input[] = [
  many('hindsight-walks', `30 lists, searches and tables of documents that go through ${WALKED} ` +
    'memories each', 30, () => [
    ...Array.from({ length: 10 }, () => ({ path: `${BANK}/memories/list?limit=1000&offset=9000` })),
    ...Array.from({ length: 10 }, (_, index) => ({ path: `${BANK}/memories/list?q=${'z'.repeat(510)}${index}` })),
    ...Array.from({ length: 10 }, () => ({ path: `${BANK}/documents?limit=1000` })),
  ], fill(WALKED, ',"document_id":"d"')),
  many('hindsight-members', `40 lists, tables and filters in a bank of ${DOCUMENTS} documents that have ` +
    `${MEMORIES_OF_DOCUMENT * MEMBERS} tags and as many members of metadata each, all different`, 40, () => [
    ...Array.from({ length: 10 }, () => ({ path: `${BANK}/documents?limit=1000` })),
    ...Array.from({ length: 10 }, () => ({ path: `${BANK}/memories/list?limit=1000` })),
    ...Array.from({ length: 10 }, (_, index) => ({
      path: `${BANK}/memories/list?limit=1000&tags_match=any&` +
        Array.from({ length: 100 }, (_, tag) => `tags=m${index * 100 + tag}x0`).join('&'),
    })),
    ...Array.from({ length: 10 }, (_, index) => ({ path: `${BANK}/documents/d${index}` })),
  ], async (target) => {
    await sendOk(target, { path: importPath(), headers: NDJSON_TYPE, body: differentMembers() })
  }),
  many('hindsight-documents', `a document of ${WALKED} memories, whole, replaced and deleted`, 10, () => [
    ...Array.from({ length: 20 }, () => ({ path: `${BANK}/documents/d` })),
    json('/memories', { items: [{ content: 'The ferry leaves at nine.', document_id: 'd' }] }),
    { method: 'DELETE', path: `${BANK}/documents/d` },
  ], fill(WALKED, ',"document_id":"d"')),
  many('hindsight-too-many', '40 documents, tables of them and searches in a bank of 50,000 memories', 20, () => (
    Array.from(
      { length: 40 },
      (_, index) => ({
        path: `${BANK}${[
          '/documents/d', '/documents', '/memories/list?q=zz', '/memories/list?offset=9999',
        ][index % 4]}`,
      }),
    )
  ), fill(TOO_MANY, ',"document_id":"d"')),
  many('hindsight-long-documents', '30 documents of 200 memories of 50,000 characters', 30, () => (
    Array.from(
      { length: 30 },
      (_, index) => ({ path: index % 2 === 0 ? `${BANK}/documents` : `${BANK}/memories/list?limit=200` }),
    )
  ), async (target) => { await fillBank(target, OWN_BANK, 200, MAX_CONTENT_LENGTH) }),
  many('hindsight-escapes', '10 documents of 80 memories of 50,000 control characters, 24 MB each', 5, () => (
    Array.from({ length: 10 }, () => ({ path: `${BANK}/documents/d` }))
  ), async (target) => { await fillDocument(target, OWN_BANK, 'd', 80, 'escapes') }),
  many('hindsight-recalls', '40 recalls with chunks and a trace over memories of 50,000 characters, and 10 with ' +
    'long queries', 50, () => [
    ...Array.from({ length: 40 }, () => json('/memories/recall', {
      query: 'ferry harbour',
      budget: 'high',
      max_tokens: 1_000_000,
      trace: true,
      include: {
        chunks: { max_tokens: 10_000 },
      },
    })),
    ...Array.from({ length: 10 }, (_, index) => json('/memories/recall', {
      query: KINDS.dates(8192, index), budget: 'high',
    })),
  ], async (target) => { await fillBank(target, OWN_BANK, 100, MAX_CONTENT_LENGTH) }),
  many('hindsight-reflects', '20 reflects over memories of 50,000 characters', 20, () => (
    Array.from({ length: 20 }, () => json('/reflect', {
      query: 'When does the ferry leave the harbour?', budget: 'high', include: { facts: {} },
    }))
  ), async (target) => { await fillBank(target, OWN_BANK, 60, MAX_CONTENT_LENGTH) }),
  many('hindsight-retains', 'batches of 10 MiB, of 1000 documents, of too many items, and with odd settings', 4, () => [
    { path: `${BANK}/memories`, body: batchBody(OWN_BANK, 'words', 1).replace(/^\{"bank_id":"[^"]*",/, '{') },
    json('/memories', {
      items: Array.from({ length: 1000 }, (_, index) => ({ content: `Note ${index}`, document_id: `d${index}` })),
    }),
    json('/memories', {
      items: Array.from({ length: 1000 }, (_, index) => ({ content: `Note ${index} again`, document_id: `d${index}` })),
    }),
    json('/memories', { items: Array.from({ length: 9000 }, () => ({})) }),
    json('/memories', {
      items: [
        { content: 'x', metadata: Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`k${index}`, 'v'])) },
      ],
    }),
    {
      ...json('/config', {
        updates: Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`k${index}`, []])),
      }),
      method: 'PATCH',
    },
    { ...json('', { name: 'x'.repeat(2000), mission: 'm'.repeat(200_000) }), method: 'PUT' },
    { path: `${BANK}/memories/list?${'tags=a&'.repeat(2000)}` },
  ]),
]
