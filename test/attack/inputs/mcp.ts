import { runConcurrently, send, type Request } from '../client.js'
import { OWN_BANK } from '../target.js'
import { fillBank, KINDS, MAX_CONTENT_LENGTH } from '../texts.js'
import type { Input } from './input.js'

const HEADERS = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-03-26' }
const BATCH = 16

function toolCall (id: number, name: string, given: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${given}}}`
}

function posted (body: string): Request {
  return { path: '/mcp', headers: HEADERS, body }
}

function batchOf (length: number, make: (id: number) => string): string {
  return `[${Array.from({ length }, (_, id) => make(id)).join(',')}]`
}

/** Hostile clients of the Model Context Protocol, whose routes are not in the OpenAPI document. */
export const mcp: readonly Input[] = [
  {
    name: 'mcp-batches',
    about: `40 batches of ${BATCH} calls of tools at a time, and 20 of 10,000 calls, which are too long`,
    allowed: ['200', '400', '413', '503'],
    run: async (target, tally) => {
      const recall = (id: number) => toolCall(
        id, 'recall', `{"bank_id":"${OWN_BANK}","query":"note ${id}","max_results":1000}`,
      )
      const bodies = [
        ...Array.from({ length: 40 }, () => batchOf(BATCH, recall)),
        ...Array.from({ length: 20 }, () => batchOf(10_000, recall)),
      ]
      await runConcurrently(60, bodies, async (body) => { tally.add(await send(target, posted(body))) })
    },
  },
  {
    name: 'mcp-arguments',
    about: 'calls of tools with 9 MB of text, 90,000 values, deep values, and long names of tools and resources',
    allowed: ['200', '400', '404', '413', '503'],
    run: async (target, tally) => {
      const deep = (levels: number) => `{"query":${'['.repeat(levels)}${']'.repeat(levels)}}`
      const long = 'x'.repeat(9_000_000)
      const bodies = [
        toolCall(1, 'retain', `{"bank_id":"${OWN_BANK}","content":"${long}"}`),
        toolCall(2, 'recall', `{"bank_id":"${OWN_BANK}","query":"${'word '.repeat(1_800_000)}"}`),
        toolCall(3, 'recall', deep(50)),
        toolCall(4, 'recall', deep(100_000)),
        toolCall(5, 'forget', `{"bank_id":"${OWN_BANK}","memory_ids":[${'"x",'.repeat(9000)}"x"]}`),
        toolCall(
          6, 'recall',
          `{"bank_id":"${OWN_BANK}","query":"x","metadata":{${Array.from({ length: 9000 }, (_, index) => (
            `"k${index}":[]`
          )).join(',')}}}`,
        ),
        toolCall(7, long, '{}'),
        `{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{"uri":"memory://banks/${long}"}}`,
        `{"jsonrpc":"2.0","id":9,"method":"${long}"}`,
        `{"jsonrpc":"2.0","id":"${long}","method":"ping"}`,
      ]
      await runConcurrently(4, [...bodies, ...bodies], async (body) => { tally.add(await send(target, posted(body))) })
    },
  },
  {
    name: 'mcp-frames',
    about: 'messages of up to 9 MB and 90,000 values outside of what is within the arguments of a tool',
    allowed: ['400'],
    run: async (target, tally) => {
      const wide = (length: number, value: unknown = 1) => JSON.stringify(Object.fromEntries(
        Array.from({ length: 9900 }, (_, index) => [`${index}`.padEnd(length, 'x'), value]),
      ))
      const bodies = [
        toolCall(1, 'recall', wide(900)),
        `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":${wide(900)}}}`,
        `{"jsonrpc":"2.0","id":3,"result":${wide(4, { a: 1, b: {}, c: {}, d: {}, e: {}, f: {}, g: {}, h: {} })}}`,
        ...[wide(900), wide(4, { a: {}, b: {}, c: {}, d: {}, e: {}, f: {}, g: {} })].map((experimental) => (
          '{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":' +
            `{"experimental":${experimental}},"clientInfo":{"name":"x","version":"1"}}}`
        )),
      ]
      for (let round = 0; round < 5; round++) {
        for (const body of bodies) tally.add(await send(target, posted(body)))
      }
    },
  },
  {
    name: 'mcp-sessions',
    about: '500 beginnings of a session, ids of sessions and events that nobody gave, and lists of everything',
    allowed: ['200', '202', '400', '404', '405', '406', '413', '503'],
    run: async (target, tally) => {
      const begin = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26",' +
        '"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}'
      const odd = { ...HEADERS, 'mcp-session-id': 's'.repeat(8000), 'last-event-id': 'e'.repeat(8000) }
      const all = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'].map(
        (method, id) => JSON.stringify({ jsonrpc: '2.0', id, method }),
      )
      const requests: Request[] = [
        ...Array.from({ length: 500 }, () => posted(begin)),
        ...Array.from({ length: 100 }, () => ({ ...posted(begin), headers: odd })),
        ...Array.from(
          { length: 100 }, (_, index) => ({ path: '/mcp', method: index % 2 === 0 ? 'GET' : 'DELETE', headers: odd }),
        ),
        ...Array.from({ length: 100 }, () => posted(`[${Array.from({ length: 4 }, () => all).flat().join(',')}]`)),
      ]
      await runConcurrently(50, requests, async (request) => { tally.add(await send(target, request)) })
    },
  },
  {
    name: 'mcp-tools-large',
    about: '40 calls of tools at a time that answer with 10 MB, and writes of the longest texts with many arguments',
    allowed: ['200', '400', '413', '503'],
    prepare: async (target) => { await fillBank(target, OWN_BANK, 200, MAX_CONTENT_LENGTH) },
    run: async (target, tally) => {
      const large = toolCall(1, 'recall', `{"bank_id":"${OWN_BANK}","query":"ferry harbour","max_results":1000}`)
      const write = (index: number) => toolCall(2, 'retain', JSON.stringify({
        bank_id: OWN_BANK,
        content: KINDS.words(MAX_CONTENT_LENGTH, index),
        tags: Array.from({ length: 100 }, (_, tag) => `t${tag}`),
        metadata: Object.fromEntries(Array.from({ length: 60 }, (_, key) => [`k${key}`, key])),
      }))
      const bodies = [
        ...Array.from({ length: 40 }, () => large),
        ...Array.from({ length: 20 }, (_, index) => write(index)),
        ...Array.from({ length: 5 }, () => (
          `{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"memory://banks/${OWN_BANK}"}}`
        )),
      ]
      await runConcurrently(40, bodies, async (body) => { tally.add(await send(target, posted(body))) })
    },
  },
]
