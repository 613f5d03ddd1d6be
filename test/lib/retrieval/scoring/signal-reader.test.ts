import t from 'tap'
import { DERIVED, type Memory } from '../../../../lib/stores/vector-store.js'
import { SignalReader } from '../../../../lib/retrieval/scoring/signals.js'
import { memory } from '../candidates.js'

/** A memory object of a store that returns the same object each time. */
function keptMemory (...fields: Parameters<typeof memory>): Memory {
  return { ...memory(...fields), [DERIVED]: undefined }
}

t.test('a reader caches what it read, until the memory changes', async (t) => {
  const reader = new SignalReader()
  const first = reader.read(memory('a', { text: 'We met Otto.' }))
  t.equal(reader.read(memory('a', { text: 'We met Otto.', tags: ['new'] })), first)
  t.notSame(reader.read(memory('a', { text: 'We met.' })), first)
  t.strictSame(reader.read(memory('a', { text: 'We met.', metadata: { speaker: 'Nora' } })).speaker, ['nora'])
  t.notSame(reader.read(memory('a', { text: 'Thanks!' })), first, 'another memory of that id, in another bank')
  t.equal(reader.read(memory('b', { metadata: { role: 'user' } })).role, 'user')
  t.equal(reader.read(memory('b', { metadata: { role: 'assistant' } })).role, 'assistant', 'not the cached one')
})

t.test('a reader evicts the least recently used memories', async (t) => {
  const reader = new SignalReader(2)
  const first = reader.read(memory('a'))
  reader.read(memory('b'))
  reader.read(memory('c'))
  const again = reader.read(memory('a'))
  t.not(again, first)
  t.strictSame({ ...again, generation: undefined }, { ...first, generation: undefined })
})

t.test('a reader caches a bounded number of characters, metadata and tags included', async (t) => {
  for (const large of [
    { text: 'b'.repeat(50_000) }, { metadata: { key: 'b'.repeat(50_000) } }, { metadata: { ['b'.repeat(50_000)]: 1 } },
    { tags: ['b'.repeat(50_000)] },
  ]) {
    const reader = new SignalReader()
    const first = reader.read(memory('first'))
    for (let index = 0; index < 400; index++) reader.read(memory(`m${index}`, large))
    t.not(reader.read(memory('first')), first)
  }
})

t.test('a memory object with a place for it refers to its signals', async (t) => {
  const reader = new SignalReader()
  const kept = keptMemory('a', { text: 'We met Otto.' })
  const signals = reader.read(kept)
  t.equal(kept[DERIVED], signals)
  t.equal(reader.known(kept), signals)
  t.equal(signals.holder, kept)
  const plain = memory('b')
  reader.read(plain)
  t.notOk(DERIVED in plain, 'nothing is added to another object')
  const other = new SignalReader()
  t.equal(other.known(kept), undefined, 'the signals are those of another reader')
  t.not(other.read(kept), signals)
})

t.test('signals that leave the cache are not referred to', async (t) => {
  const reader = new SignalReader(4)
  const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => keptMemory(id))
  const referring = () => all.filter((kept) => kept[DERIVED] !== undefined).map(({ memoryId }) => memoryId)
  for (const kept of all.slice(0, 4)) reader.read(kept)
  t.strictSame(referring(), ['a', 'b', 'c', 'd'])
  reader.read(all[0]!)
  t.strictSame(referring(), ['a', 'c', 'd'], 'the younger generation was full; the older one had a and b')
  reader.read(all[4]!)
  reader.read(all[5]!)
  t.strictSame(referring(), ['a', 'e', 'f'])
  t.equal(reader.known(all[0]!), all[0]![DERIVED], 'a was read again in time')
})

t.test('of two memory objects with one id the last one refers to the signals', async (t) => {
  const reader = new SignalReader()
  const [first, second, third] = [
    keptMemory('a', { text: 'One.' }), keptMemory('a', { text: 'One.' }), keptMemory('a', { text: 'Three.' }),
  ]
  const signals = reader.read(first)
  t.equal(reader.read(second), signals, 'the text is the same')
  t.strictSame([first[DERIVED], second[DERIVED]], [undefined, signals])
  t.not(reader.read(third), signals)
  t.strictSame([first[DERIVED], second[DERIVED], third[DERIVED]?.constructor], [undefined, undefined, Object])
})
