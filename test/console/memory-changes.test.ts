import t from 'tap'
import type { Memory } from '../../packages/client/src/index.js'
import { patchOf } from '../../console/src/pages/memories/memory-draft.js'
import { fieldChanges, type MemoryVersion } from '../../console/src/pages/memories/version-changes.js'
import { formatTime } from '../../console/src/text/format.js'
import { wordDiff } from '../../console/src/text/word-diff.js'

const MEMORY: Memory = {
  memory_id: '01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f',
  bank_id: 'user-alice',
  text: 'Alice works at Acme.',
  tags: ['work'],
  metadata: {},
  occurred_at: null,
  retained_at: '2026-01-05T09:30:00.000Z',
  expires_at: null,
  document_id: null,
  source: null,
  speaker: null,
  trust: 'trusted',
  version: 1,
  state: 'current',
  key: 'alice/employer',
  valid_from: '2024-03-01T00:00:00.000Z',
}

t.test('a patch has what was changed, and null for what is removed', async (t) => {
  t.same(patchOf(MEMORY, {}), {})
  t.same(patchOf(MEMORY, { content: MEMORY.text, tags: ['work'], validFrom: '2024-03-01T00:00:00.000Z' }), {})
  const [content, tags, until] = ['Alice works at Globex.', ['work', 'now'], '2026-01-01T00:00:00Z'] as const
  t.same(patchOf(MEMORY, { content, tags: [...tags], validUntil: until }), { content, tags, valid_until: until })
  t.same(patchOf(MEMORY, { tags: [], key: '', validFrom: '' }), { tags: null, key: null, valid_from: null })
})

t.test('two texts are compared word by word', async (t) => {
  t.same(wordDiff('Alice works at Acme.', 'Alice now works at Globex.'), [
    { text: 'Alice ', kind: 'same' },
    { text: 'now ', kind: 'added' },
    { text: 'works at ', kind: 'same' },
    { text: 'Acme', kind: 'removed' },
    { text: 'Globex', kind: 'added' },
    { text: '.', kind: 'same' },
  ])
  t.same(wordDiff('Tea.', 'Tea.'), [{ text: 'Tea.', kind: 'same' }])
  const [before, after] = ['a', 'b'].map((letter) => Array.from({ length: 5000 }, (_, n) => `${letter}${n}`).join(' '))
  t.same(wordDiff(before!, after!), [{ text: before, kind: 'removed' }, { text: after, kind: 'added' }],
    'long texts that have nothing in common are not compared')
  for (const text of [before!, `${before!} ${before!}`]) {
    const parts = wordDiff(text, `${text} more`)
    t.equal(parts.filter(({ kind }) => kind !== 'removed').map((part) => part.text).join(''), `${text} more`)
    t.equal(parts.filter(({ kind }) => kind !== 'added').map((part) => part.text).join(''), text)
  }
})

t.test('the fields that differ between two versions are named', async (t) => {
  const { text, memory_id: _, bank_id: __, ...fields } = MEMORY
  const first: MemoryVersion = {
    ...fields,
    content: text,
    changed_at: MEMORY.retained_at,
    changed_by: null,
    reason: null,
    ended_at: null,
    redacted: false,
  }
  t.same(fieldChanges(first, { ...first, version: 2, content: 'Other.', changed_by: 'user:bob' }), [])
  const { key: ___, ...keyless } = first
  t.same(fieldChanges(first, {
    ...keyless, state: 'superseded', tags: [], valid_until: '2026-01-01T00:00:00.000Z', metadata: { n: 1 },
  }), [
    { label: 'State', before: 'current', after: 'superseded' },
    { label: 'Key', before: 'alice/employer', after: '' },
    { label: 'Valid until', before: '', after: formatTime('2026-01-01T00:00:00.000Z') },
    { label: 'Tags', before: 'work', after: '' },
    { label: 'Metadata', before: '', after: '{"n":1}' },
  ])
})
