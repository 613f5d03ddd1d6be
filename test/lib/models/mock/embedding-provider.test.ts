import t from 'tap'
import { MockEmbeddingProvider } from '../../../../lib/models/mock/embedding-provider.js'
import { embeddingProviderContract } from '../../../contract/embedding-provider.js'

embeddingProviderContract('MockEmbeddingProvider', async () => new MockEmbeddingProvider(), { deterministic: true })

async function similarity (a: string, b: string): Promise<number> {
  const [left, right] = await new MockEmbeddingProvider().embed([a, b])
  return left!.reduce((sum, value, index) => sum + value * right![index]!, 0)
}

t.test('a vector has unit length, and that of a text without words is zero', async (t) => {
  const [words, none] = await new MockEmbeddingProvider().embed(['Alice lives in Lyon with three cats.', '…'])
  t.ok(Math.abs(Math.hypot(...words!) - 1) < 1e-6)
  t.ok(none!.every((value) => value === 0))
})

t.test('texts are similar when they share words, whatever the order and the endings', async (t) => {
  t.ok(await similarity('the cat sleeps', 'sleeping cats, the') > 0.99)
  t.ok(await similarity('red apple', 'red wine') > 0.3)
  t.ok(Math.abs(await similarity('red apple', 'quarterly revenue')) < 0.3)
})

t.test('the mock has weight 0 in the fusion, because its vectors have no meaning', async (t) => {
  t.equal(new MockEmbeddingProvider().fusionWeight, 0)
})
