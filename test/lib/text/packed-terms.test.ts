import t from 'tap'
import { analyzeText } from '../../../lib/text/analysis.js'
import { PackedTerms, packTerms } from '../../../lib/text/packed-terms.js'

const MAPS: Record<string, ReadonlyMap<string, number>> = {
  'no terms': new Map(),
  'terms that occur once': analyzeText('Ferries leave harbours at nine').terms,
  repeats: analyzeText("The café's ferry, the ferry, 渡し船 and 🚢 by the ferry").terms,
  fractions: new Map([['ferry', 0.25], ['harbour', 1]]),
}

for (const [name, map] of Object.entries(MAPS)) {
  t.test(`packed terms are like the map that they were made from: ${name}`, async (t) => {
    const packed = new PackedTerms(structuredClone(packTerms(map)))
    t.equal(packed.size, map.size)
    t.same([...packed], [...map])
    t.same([...packed], [...map], 'a second time')
    t.same([...packed.entries()], [...map.entries()])
    t.same([...packed.keys()], [...map.keys()])
    t.same([...packed.values()], [...map.values()])
    const visited: Array<[string, number]> = []
    packed.forEach((weight, term, all) => {
      t.equal(all, packed)
      visited.push([term, weight])
    })
    t.same(visited, [...map])
    for (const [term, weight] of map) {
      t.equal(packed.get(term), weight)
      t.ok(packed.has(term))
    }
    for (const absent of ['absent', '']) {
      t.equal(packed.get(absent), undefined)
      t.notOk(packed.has(absent))
    }
  })
}
