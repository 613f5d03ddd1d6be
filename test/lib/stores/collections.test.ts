import assert from 'node:assert/strict'
import t from 'tap'
import { SortedList } from '../../../lib/stores/sorted-list.js'
import { SplitMap } from '../../../lib/stores/split-map.js'
import fc from '../../helpers/fast-check.js'

await t.test('a sorted list equals an array that is sorted after every step, over many chunks', async (t) => {
  const steps = fc.array(
    fc.record({ n: fc.nat(40), many: fc.boolean(), remove: fc.boolean() }), { maxLength: 60, size: 'max' },
  )
  fc.assert(fc.property(steps, (steps) => {
    const list = new SortedList<{ n: number }>((a, b) => a.n - b.n)
    let plain: Array<{ n: number }> = []
    for (const { n, many, remove } of steps) {
      for (let i = 0; i < (many ? 200 : 1); i++) {
        if (remove && plain.length > 0) {
          const [gone] = plain.splice(n % plain.length, 1)
          assert.ok(list.remove(gone!))
          assert.ok(!list.remove(gone!))
        } else {
          const item = { n: n + i % 7 }
          plain.push(item)
          list.add(item)
        }
      }
    }
    plain = plain.toSorted((a, b) => a.n - b.n)
    assert.equal(list.size, plain.length)
    assert.equal(list.first?.n, plain[0]?.n)
    assert.deepEqual([...list.forwards()].map(({ n }) => n), plain.map(({ n }) => n))
    assert.deepEqual([...list.backwards()].map(({ n }) => n), plain.map(({ n }) => n).toReversed())
    assert.deepEqual(
      [...list.forwards((item) => item.n < 9)].map(({ n }) => n), plain.filter(({ n }) => n >= 9).map(({ n }) => n),
    )
    assert.deepEqual([...list.backwards((item) => item.n < 9)].map(({ n }) => n), plain.filter(({ n }) => n < 9)
      .map(({ n }) => n)
      .toReversed())
    const all = [...list.forwards()]
    for (const [at, item] of all.entries()) {
      assert.equal(list.previous(item), all[at - 1])
      assert.equal(list.next(item), all[at + 1])
    }
  }), { numRuns: 40 })
  t.pass()
})

await t.test('a reader of a sorted list that changes gets every item that stays, once and in order', async (t) => {
  for (const direction of ['forwards', 'backwards'] as const) {
    const list = new SortedList<{ n: number }>((a, b) => a.n - b.n)
    const stay = Array.from({ length: 1500 }, (_, n) => ({ n: n * 2 }))
    for (const item of stay) list.add(item)
    const seen: number[] = []
    for (const { n } of list[direction]()) {
      if (n % 2 === 1) continue
      seen.push(n)
      list.add({ n: (n * 7 + 1) % 3000 | 1 })
    }
    t.strictSame(seen, direction === 'forwards' ? stay.map(({ n }) => n) : stay.map(({ n }) => n).toReversed())
  }
})

await t.test('a reader of a sorted list gets an item once, also when an equal one replaces it', async (t) => {
  for (const direction of ['forwards', 'backwards'] as const) {
    for (const replaces of [false, true]) {
      for (let at = 0; at < 1100; at += 100) {
        const list = new SortedList<{ n: number, isNew: boolean }>((a, b) => a.n - b.n)
        const old = Array.from({ length: 1100 }, (_, n) => ({ n, isNew: false }))
        for (const item of old) list.add(item)
        const seen: number[] = []
        for (const item of list[direction]()) {
          if (!item.isNew) seen.push(item.n)
          if (item !== old[at]) continue
          for (const { n } of old) list.add({ n, isNew: true })
          if (replaces) list.remove(item)
        }
        const expected = old.map(({ n }) => n)
        t.strictSame(seen, direction === 'forwards' ? expected : expected.toReversed(), `${direction}, at ${at}`)
      }
    }
  }
})

await t.test('a reader of a sorted list whose item is replaced by an equal one does not get both', async (t) => {
  const list = new SortedList<{ n: number }>((a, b) => a.n - b.n)
  for (let n = 0; n < 10; n++) list.add({ n })
  for (const direction of ['forwards', 'backwards'] as const) {
    const seen: number[] = []
    for (const item of list[direction]()) {
      seen.push(item.n)
      list.remove(item)
      list.add({ n: item.n })
    }
    t.strictSame(seen.sort((a, b) => a - b), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], direction)
  }
})

await t.test('a split map behaves like a map, also when it has several parts', async (t) => {
  const split = new SplitMap<number>()
  const plain = new Map<string, number>()
  for (let i = 0; i < 60_000; i++) {
    const key = `key ${i * 7919 % 40_000}`
    if (i % 3 === 2) assert.equal(split.delete(key), plain.delete(key))
    else {
      split.set(key, i)
      plain.set(key, i)
    }
    if (split.size !== plain.size) t.fail(`size ${split.size}, not ${plain.size}`)
  }
  t.strictSame([...split.values()].sort((a, b) => a - b), [...plain.values()].sort((a, b) => a - b))
  for (const [key, value] of plain) if (split.get(key) !== value) t.fail(key)
  for (const key of plain.keys()) split.delete(key)
  t.equal(split.size, 0)
  t.strictSame([...split.values()], [])
})
