import type { Test } from 'tap'
import type { LexicalRequest, NewMemory } from '../../../lib/stores/vector-store.js'
import fc from '../../helpers/fast-check.js'
import { NOW, type MemoryFields } from '../../helpers/memories.js'
import { assertScores, turn } from './context.js'
import { bank, searchFor, type OpenStore } from './setup.js'

const FORM = { k1: 0.9, length: { pivot: 2, notesPivot: 6 }, context: true }
const OTTER = { lexical: { terms: ['otter'], ...FORM } }

/** Searches with a pivot of their own for notes and articles, which are known by asking nothing. */
export function notesContract (t: Test, open: OpenStore): void {
  const home = bank('home')

  /** Ten memories of three words, in documents of their own. */
  const notes = async (end: (index: number) => string, fields: (index: number) => MemoryFields = () => ({})) => (
    await Promise.all(Array.from({ length: 10 }, async (_, index) => await turn(`otter swims far${end(index)}`, {
      documentId: null, fingerprint: String(index), ...fields(index),
    })))
  )

  /** The own score of the first memory, and its score. */
  const scoresIn = async (t: Test, all: readonly NewMemory[]) => {
    const store = await open(t)
    await store.insert(home, all, { now: NOW })
    await assertScores(store, home, all, ['otter'], FORM)
    const { lexical } = await searchFor(store, [home], '', OTTER)
    return lexical!.find(({ memory }) => memory.memoryId === all[0]!.memoryId)!.scores
  }
  const scoreOf = (norm: number) => Math.round(1e12 / (1 + 0.9 * norm)) / 1e12
  const long = { own: scoreOf(1), lexical: scoreOf(1) }
  const short = { own: scoreOf(1.5), lexical: scoreOf(1.5) }

  t.test('length counts from the second pivot on if no memory asks something, or an assistant says it', async (t) => {
    t.strictSame(await scoresIn(t, await notes(() => '.')), long)
    t.strictSame(await scoresIn(t, (await notes(() => '.')).slice(1)), short, 'too few to tell')
    t.strictSame(await scoresIn(t, await notes((index) => index === 9 ? '?' : '.')), short, 'a question')
  })

  t.test('an assistant is known by the speaker, or else by the role, in any case', async (t) => {
    const last = async (metadata: MemoryFields['metadata']) => (
      await scoresIn(t, await notes(() => '.', (index) => index === 9 ? { metadata: metadata! } : {}))
    )
    for (const metadata of [{ speaker: 'assistant' }, { speaker: 'AI' }, { role: 'Model' }]) {
      t.strictSame(await last(metadata), short, JSON.stringify(metadata))
    }
    for (const metadata of [
      { speaker: 'user' }, { speaker: 'assistants' }, { speaker: 'Ann', role: 'assistant' }, { speaker: 5, role: 'ai' },
      { speaker: true }, {},
    ]) {
      t.strictSame(await last(metadata), long, JSON.stringify(metadata))
    }
  })

  t.test('only the pool tells, with the memories that pass the filters', async (t) => {
    const store = await open(t)
    const all = [
      ...await notes(() => '.', () => ({ tags: ['note'] })),
      await turn('Does a heron fly far?', { documentId: null, tags: ['question'] }),
    ]
    await store.insert(home, all, { now: NOW })
    await assertScores(store, home, all, ['otter'], FORM)
    await assertScores(store, home, all, ['otter', 'heron'], FORM)
    await assertScores(store, home, all, ['far'], FORM)
  })

  t.test('scores are those of the definition', async (t) => {
    const store = await open(t)
    const word = fc.constantFrom('apple', 'pear', 'plum', 'fig')
    const memory = fc.record({
      words: fc.array(word, { minLength: 1, maxLength: 12 }),
      end: fc.oneof({ weight: 40, arbitrary: fc.constant('.') }, { weight: 1, arbitrary: fc.constant('?') }),
      document: fc.constantFrom('a', 'b', null),
      speaker: fc.oneof({ weight: 60, arbitrary: fc.constantFrom('user', 'Ann') }, fc.constant('assistant')),
      chunk: fc.constantFrom(12, 100),
    })
    let runs = 0
    await fc.assert(fc.asyncProperty(
      fc.array(memory, { minLength: 8, maxLength: 24 }),
      fc.constantFrom<LexicalRequest['length']>(FORM.length, { pivot: 3, notesPivot: 4 }, { pivot: 3, notesPivot: 3 }),
      async (memories, length) => {
        const key = bank(`run-${runs++}`)
        const all = await Promise.all(memories.map(async ({ words, end, document, speaker, chunk }, index) => (
          await turn(words.join(' ') + end, {
            documentId: document,
            occurredAt: NOW + index,
            fingerprint: String(index),
            metadata: { speaker },
            chunkMaxCharacters: chunk,
          })
        )))
        await store.insert(key, all, { now: NOW })
        for (const terms of [['appl'], ['plum', 'fig'], ['appl', 'pear', 'nowher']]) {
          await assertScores(store, key, all, terms, { ...FORM, length })
        }
      },
    ), { numRuns: 30 })
  })
}
