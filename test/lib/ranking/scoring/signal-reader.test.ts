import t from 'tap'
import { SignalReader } from '../../../../lib/ranking/scoring/signals.js'
import { memory } from '../candidates.js'

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
  t.strictSame(again, first)
})

t.test('a reader caches a bounded number of characters', async (t) => {
  const reader = new SignalReader()
  const first = reader.read(memory('first'))
  for (let index = 0; index < 400; index++) reader.read(memory(`m${index}`, { text: 'b'.repeat(50_000) }))
  t.not(reader.read(memory('first')), first)
})
