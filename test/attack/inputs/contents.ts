import { runConcurrently, send, sendOk } from '../client.js'
import { DEDUP_BANK, OWN_BANK } from '../target.js'
import { batchBody, fillBank, KIND_NAMES, KINDS, MARKUP, MAX_CONTENT_LENGTH, type Kind } from '../texts.js'
import type { Input } from './input.js'

const MAX_QUERY_LENGTH = 8192
const WIDTH = 50

function batch (kind: Kind, bankId: string): Input {
  const dedup = bankId === DEDUP_BANK
  return {
    name: `batch-${kind}${dedup ? '-dedup' : ''}`,
    about: `a batch of 10 MiB of valid text: ${kind}${dedup ? ', with dedup: warn' : ''}`,
    allowed: ['200', '503'],
    run: async (target, tally) => {
      tally.add(
        await send(target, { path: '/v1/retain/batch', body: batchBody(bankId, kind, 1) }),
      )
    },
  }
}

function retain (kind: Kind): Input {
  return {
    name: `retain-${kind}`,
    about: `${WIDTH} retains at a time of 50,000 characters: ${kind}`,
    allowed: ['200', '503'],
    run: async (target, tally) => {
      await Promise.all(Array.from({ length: WIDTH }, async (_, index) => {
        tally.add(
          await send(target, {
            path: '/v1/retain',
            body: JSON.stringify({ bank_id: OWN_BANK, content: KINDS[kind](MAX_CONTENT_LENGTH, index).trim() }),
          }),
        )
      }))
    },
  }
}

function recall (kind: Kind): Input {
  return {
    name: `recall-${kind}`,
    about: `${WIDTH} recalls at a time with queries of 8,192 characters: ${kind}`,
    allowed: ['200', '413', '503'],
    prepare: async (target) => { await fillBank(target, OWN_BANK, 1000, 200) },
    run: async (target, tally) => {
      await Promise.all(Array.from({ length: WIDTH }, async (_, index) => {
        tally.add(
          await send(target, {
            path: '/v1/recall',
            body: JSON.stringify({
              bank_id: OWN_BANK, query: KINDS[kind](MAX_QUERY_LENGTH, index), explain: index % 2 === 0,
            }),
          }),
        )
      }))
    },
  }
}

/** Valid texts that cost much to analyse. */
export const contents: readonly Input[] = [
  ...KIND_NAMES.map((kind) => batch(kind, OWN_BANK)),
  ...KIND_NAMES.map((kind) => batch(kind, DEDUP_BANK)),
  ...KIND_NAMES.map(retain),
  ...KIND_NAMES.map(recall),
  {
    name: 'reflect-long',
    about: '20 reflects at a time over memories of 50,000 characters',
    allowed: ['200', '413', '503'],
    prepare: async (target) => { await fillBank(target, OWN_BANK, 60, MAX_CONTENT_LENGTH) },
    run: async (target, tally) => {
      await Promise.all(Array.from({ length: 20 }, async () => {
        tally.add(
          await send(target, {
            path: '/v1/reflect',
            body: JSON.stringify({ bank_id: OWN_BANK, query: 'When does the ferry leave the harbour?' }),
          }),
        )
      }))
    },
  },
  {
    name: 'reflect-markup',
    about: 'reflects that quote long lines of brackets, tildes and marks',
    allowed: ['200', '413', '503'],
    prepare: async (target) => {
      const items = MARKUP.map(([unit, end], index) => ({
        content: `${unit.repeat(Math.ceil((19_000 - end.length) / unit.length))}${end} zebra${index}`,
      }))
      await sendOk(target, { path: '/v1/retain/batch', body: JSON.stringify({ bank_id: OWN_BANK, items }) })
    },
    run: async (target, tally) => {
      for (const index of MARKUP.keys()) {
        tally.add(
          await send(target, {
            path: '/v1/reflect',
            body: JSON.stringify({ bank_id: OWN_BANK, query: `zebra${index}`, max_tokens: 100_000 }),
          }),
        )
      }
    },
  },
  {
    name: 'reflect-schemas',
    about: 'reflects with schemas that are too long: of 89,000 values, of 9,900 long names, and of a text of 10 MB',
    allowed: ['400'],
    run: async (target, tally) => {
      const values = Array.from({ length: 9900 }, () => Array.from({ length: 8 }, () => []))
      const names = Object.fromEntries(Array.from({ length: 9900 }, (_, index) => [`${index}`.padEnd(900, 'x'), 1]))
      for (const value of [values, names, 'x'.repeat(10_000_000)]) {
        const body = JSON.stringify({
          bank_id: OWN_BANK, query: 'x', response_schema: { type: 'object', const: value },
        })
        for (let round = 0; round < 5; round++) tally.add(await send(target, { path: '/v1/reflect', body }))
      }
    },
  },
  {
    name: 'dedup-one-by-one',
    about: '300 retains, 10 at a time, that nearly repeat each other, with dedup: warn',
    allowed: ['200', '503'],
    run: async (target, tally) => {
      const shared = KINDS.words(5000, 7)
      await runConcurrently(10, Array.from({ length: 300 }, (_, index) => index), async (index) => {
        tally.add(
          await send(target, {
            path: '/v1/retain',
            body: JSON.stringify({
              bank_id: DEDUP_BANK,
              content: `${shared} ending${String.fromCharCode(97 + index % 26)}${String.fromCharCode(97 + index / 26)}`,
            }),
          }),
        )
      })
    },
  },
]
