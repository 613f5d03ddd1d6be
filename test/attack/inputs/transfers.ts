import { sendOk, NDJSON_TYPE, send } from '../client.js'
import { OWN_BANK, type Target } from '../target.js'
import { importPath, tinyImport } from '../texts.js'
import type { Input } from './input.js'

/** What fits into 10 MiB, and what the bound on lines takes with the header. */
const MAX_LINES = 619_620
const WITHIN_BOUND = 49_999

const importing = async (target: Target, body: string, query = '') => (
  await send(target, { path: importPath(OWN_BANK, query), headers: NDJSON_TYPE, body })
)
/** A bank as big as one import makes it. */
const full = async (target: Target) => {
  await sendOk(target, { path: importPath(), headers: NDJSON_TYPE, body: tinyImport(WITHIN_BOUND) })
}

/** Imports of the smallest memories, and what can be done with as many. */
export const transfers: readonly Input[] = [
  {
    name: 'import-tiny',
    about: 'an import of 10 MiB, 619,620 memories',
    run: async (target, tally) => { tally.add(await importing(target, tinyImport(MAX_LINES))) },
  },
  {
    name: 'import-tiny-overwrite',
    about: 'an import of 10 MiB with on_conflict=overwrite',
    run: async (target, tally) => {
      tally.add(
        await importing(target, tinyImport(MAX_LINES), '?on_conflict=overwrite'),
      )
    },
  },
  {
    name: 'import-own-bank',
    about: 'an import of 50,000 lines, 0.8 MB, into the own bank',
    allowed: ['200'],
    run: async (target, tally) => { tally.add(await importing(target, tinyImport(WITHIN_BOUND))) },
  },
  {
    name: 'import-again',
    about: 'the same 50,000 lines again',
    allowed: ['200'],
    prepare: full,
    run: async (target, tally) => { tally.add(await importing(target, tinyImport(WITHIN_BOUND))) },
  },
  {
    name: 'import-again-overwrite',
    about: 'the same 50,000 lines again, with on_conflict=overwrite',
    allowed: ['200'],
    prepare: full,
    run: async (target, tally) => {
      tally.add(
        await importing(target, tinyImport(WITHIN_BOUND), '?on_conflict=overwrite'),
      )
    },
  },
  {
    name: 'import-bad-lines',
    about: 'an import whose lines are wrong, and one whose last line is',
    allowed: ['400', '413'],
    run: async (target, tally) => {
      tally.add(await importing(target, `${tinyImport(0)}${'{"text":1}\n'.repeat(WITHIN_BOUND)}`))
      tally.add(await importing(target, `${tinyImport(WITHIN_BOUND - 1)}{"text":""}\n`))
      tally.add(await importing(target, `${tinyImport(0)}${'\n'.repeat(10_000_000)}`))
    },
  },
  {
    name: 'export-full',
    about: 'the export of a bank of 50,000 memories',
    allowed: ['200'],
    prepare: full,
    run: async (target, tally) => { tally.add(await send(target, { path: `/v1/banks/${OWN_BANK}/export` })) },
  },
  {
    name: 'forget-all',
    about: 'a forget of 50,000 memories',
    allowed: ['200'],
    prepare: full,
    run: async (target, tally) => {
      tally.add(
        await send(target, { path: '/v1/forget', body: JSON.stringify({ bank_id: OWN_BANK, scope: 'all' }) }),
      )
    },
  },
  {
    name: 'delete-bank',
    about: 'the bank of 50,000 memories is deleted, and asked for at once',
    allowed: ['200', '204'],
    prepare: full,
    run: async (target, tally) => {
      tally.add(
        await send(target, { method: 'DELETE', path: `/v1/banks/${OWN_BANK}` }),
        await send(target, { path: `/v1/banks/${OWN_BANK}/memories?limit=200` }),
      )
    },
  },
  {
    name: 'list-full',
    about: 'all pages of a bank of 50,000 memories from ten readers, and its statistics',
    allowed: ['200'],
    prepare: full,
    run: async (target, tally) => {
      await Promise.all(Array.from({ length: 10 }, async () => {
        for (let page = 0, cursor = ''; page < 20; page++) {
          const sent = await send(target, { path: `/v1/banks/${OWN_BANK}/memories?limit=1${cursor}` })
          tally.add(sent)
          const next = /"next_cursor":"([^"]+)"/.exec(sent.text)?.[1]
          if (next === undefined) break
          cursor = `&cursor=${encodeURIComponent(next)}`
        }
        tally.add(await send(target, { path: `/v1/banks/${OWN_BANK}/stats` }))
      }))
    },
  },
  {
    name: 'recall-full',
    about: '20 recalls of 1000 hits in a bank of 50,000 memories, and a list of all of them after a forget by tag',
    allowed: ['200', '413', '503'],
    prepare: async (target) => {
      await sendOk(target, {
        path: importPath(), headers: NDJSON_TYPE, body: tinyImport(WITHIN_BOUND, ',"tags":["t"]'),
      })
    },
    run: async (target, tally) => {
      const body = JSON.stringify({
        bank_id: OWN_BANK,
        query: Array.from({ length: 1000 }, (_, index) => index.toString(36).padStart(4, '0')).join(' '),
        max_results: 1000,
      })
      tally.add(
        ...await Promise.all(Array.from({ length: 20 }, async () => await send(target, { path: '/v1/recall', body }))),
      )
      tally.add(await send(target, { path: '/v1/forget', body: JSON.stringify({ bank_id: OWN_BANK, tags: ['t'] }) }))
      tally.add(await send(target, { path: `/v1/banks/${OWN_BANK}/memories?limit=200` }))
    },
  },
]
