import t, { type Test } from 'tap'
import type { EmbeddingProvider } from '../../lib/models/embedding-provider.js'

export interface EmbeddingContractOptions {
  /** Whether equal texts always get equal vectors, alone or among others. */
  deterministic: boolean
}

const TEXTS = [
  'Alice lives in Lyon.',
  'The kettle is on the stove.',
  '東京に行きます',
  'مرحبا بالعالم',
  '👩‍👩‍👧 🎉 \u{10ffff}',
  '…',
  ' ',
  '__proto__ constructor "quoted" \\ % $1',
  'sea '.repeat(2000),
]

/** What every implementation of EmbeddingProvider must pass. */
export function embeddingProviderContract (
  name: string, make: (t: Test) => Promise<EmbeddingProvider>, { deterministic }: EmbeddingContractOptions,
): void {
  async function open (t: Test): Promise<EmbeddingProvider> {
    const provider = await make(t)
    t.teardown(async () => { await provider.close?.() })
    return provider
  }

  t.test(`${name}: embeddings`, async (t) => {
    t.test('the dimensions are a whole number above 0, the weight a number from 0', async (t) => {
      const { dimensions, fusionWeight } = await open(t)
      t.ok(Number.isSafeInteger(dimensions) && dimensions > 0, `${dimensions}`)
      t.ok(Number.isFinite(fusionWeight) && fusionWeight >= 0, `${fusionWeight}`)
    })

    t.test('no texts give no vectors', async (t) => {
      t.strictSame(await (await open(t)).embed([], {}), [])
    })

    t.test('every text, of whatever script or length, gets one vector of finite numbers', async (t) => {
      const provider = await open(t)
      const vectors = await provider.embed(TEXTS, { signal: new AbortController().signal })
      t.equal(vectors.length, TEXTS.length)
      vectors.forEach((vector, index) => {
        const about = TEXTS[index]!.slice(0, 40)
        t.ok(vector instanceof Float32Array, about)
        t.equal(vector.length, provider.dimensions, about)
        t.ok(vector.every(Number.isFinite), about)
      })
    })

    t.test('a text with words has a vector that is not zero', async (t) => {
      const [vector] = await (await open(t)).embed(['Alice lives in Lyon.'], {})
      t.ok(vector!.some((value) => value !== 0))
    })

    t.test('vectors come in the order of the texts', async (t) => {
      const provider = await open(t)
      const texts = ['Alice lives in Lyon.', 'The kettle is on the stove.', 'Quarterly revenue fell.']
      const forwards = await provider.embed(texts, {})
      const backwards = await provider.embed(texts.toReversed(), {})
      forwards.forEach((vector, index) => {
        const nearest = backwards.map((other) => cosine(vector, other))
          .reduce((best, value, at, all) => value > all[best]! ? at : best, 0)
        t.equal(nearest, texts.length - 1 - index, texts[index]!)
      })
    })

    t.test('equal texts get equal vectors, alone and among others', { skip: !deterministic }, async (t) => {
      const [one, other] = [await open(t), await open(t)]
      const together = await one.embed(TEXTS, {})
      for (const [index, text] of TEXTS.entries()) t.strictSame(await other.embed([text], {}), [together[index]])
    })

    t.test('concurrent calls do not get each other\'s results', async (t) => {
      const provider = await open(t)
      const answers = await Promise.all(TEXTS.map(async (text) => await provider.embed([text, text], {})))
      for (const vectors of answers) t.equal(vectors.length, 2)
      if (deterministic) t.strictSame(answers.map(([vector]) => vector), await provider.embed(TEXTS, {}))
    })
  })
}

function cosine (a: Float32Array, b: Float32Array): number {
  const dot = a.reduce((sum, value, index) => sum + value * b[index]!, 0)
  return dot / Math.hypot(...a) / Math.hypot(...b)
}
