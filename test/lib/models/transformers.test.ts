import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { transformersEmbeddings } from '../../../lib/models/transformers/providers.js'
import { ProviderError } from '../../../lib/config/providers/registry.js'
import { embeddingProviderContract } from '../../contract/embedding-provider.js'
import { rejection } from '../../helpers/rejection.js'

/** Stands in for @huggingface/transformers, which is not installed: see there for what its models do. */
const MODULE = new URL('../../fixtures/transformers-package/index.mjs', import.meta.url).href
const SURROUNDINGS = { baseDirectory: process.cwd() }

async function open (t: Test, config: Record<string, unknown> = {}) {
  const provider = await transformersEmbeddings({ model: 'fake/bigrams', ...config }, SURROUNDINGS, { module: MODULE })
  t.teardown(async () => { await provider.close?.() })
  return provider
}

/** @returns the message of the ProviderError */
async function refusal (config: Record<string, unknown>, module = MODULE): Promise<string> {
  return (await rejection(ProviderError, transformersEmbeddings(config, SURROUNDINGS, { module }))).message
}

embeddingProviderContract('transformers', async (t) => await open(t), { deterministic: true })

t.test('the dimensions are determined from the model at the start', async (t) => {
  t.equal((await open(t)).dimensions, 32)
  t.equal((await open(t, { model: 'fake/mirror' })).dimensions, 8)
})

t.test('the model name differs for settings that change stored vectors, and for no others', async (t) => {
  const plain = await open(t, { dimensions: 32 })
  t.strictSame([plain.model, plain.deferred, plain.fusionWeight], [
    '@huggingface/transformers:fake/bigrams:default:mean', true, 1.5,
  ])
  const other = await open(t, {
    dimensions: 32,
    dtype: 'q8',
    pooling: 'cls',
    document_prefix: 'passage: ',
    query_prefix: 'query: ',
    fusion_weight: 0.7,
  })
  t.strictSame([other.model, other.fusionWeight], ['@huggingface/transformers:fake/bigrams:q8:cls:"passage: "', 0.7])
})

t.test('texts get the prefix of their purpose, and the configured pooling', async (t) => {
  const provider = await open(t, { model: 'fake/mirror', query_prefix: 'q: ', document_prefix: 'd: ', pooling: 'cls' })
  const read = (vector: Float32Array) => ({
    pooling: vector[1] === 1 ? 'cls' : 'mean', text: String.fromCodePoint(...vector.slice(2)).trimEnd(),
  })
  const [document] = await provider.embed(['Lyon'], {})
  const [query] = await provider.embed(['Lyon'], { purpose: 'query' })
  t.strictSame([document, query].map((vector) => read(vector!)), [
    { pooling: 'cls', text: 'd: Lyo' }, { pooling: 'cls', text: 'q: Lyo' },
  ])
  const [plain] = await (await open(t, { model: 'fake/mirror' })).embed(['Lyon'], { purpose: 'query' })
  t.strictSame(read(plain!), { pooling: 'mean', text: 'Lyon' })
})

t.test('texts are computed in batches', async (t) => {
  const provider = await open(t, { model: 'fake/mirror', batch_size: 3 })
  t.strictSame((await provider.embed(['a', 'b', 'c', 'd'], {})).map(([together]) => together), [3, 3, 3, 1])
})

t.test('very long texts are cut', async (t) => {
  const [cut, longer] = await (await open(t)).embed(['a'.repeat(8000), 'a'.repeat(8000) + 'bcd'], {})
  t.strictSame(cut, longer)
})

t.test('the model is loaded with the configured settings', async (t) => {
  const message = await refusal({ model: 'refused/model', dtype: 'q8', cache_dir: 'cache', allow_remote: false })
  const { model, options, env } = JSON.parse(message.replace('embedding_provider: transformers: ', ''))
  t.equal(model, 'refused/model')
  t.strictSame(options, {
    dtype: 'q8', session_options: { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 },
  })
  t.strictSame([env.allowRemoteModels, env.cacheDir], [false, `${process.cwd()}/cache`])

  const plain = JSON.parse((await refusal({ model: 'refused/model' })).replace(
    'embedding_provider: transformers: ', '',
  ))
  t.notOk('dtype' in plain.options)
  t.strictSame([plain.env.allowRemoteModels, plain.env.cacheDir], [true, '/package/.cache/'])
})

t.test('a model in a folder is found beside the configuration file', async (t) => {
  t.equal(
    await refusal({ model: './no-such-folder' }),
    'embedding_provider: transformers: there is no folder "./no-such-folder" with a model',
  )
  const provider = await transformersEmbeddings({ model: './lib' }, SURROUNDINGS, { module: MODULE })
  t.teardown(async () => { await provider.close?.() })
  t.equal(provider.model, '@huggingface/transformers:./lib:default:mean', 'the name contains the configured path')
})

t.test('a missing package is reported with the command that installs it', async (t) => {
  t.equal(
    await refusal({ model: 'fake/bigrams' }, '@huggingface/no-such-package'),
    'embedding_provider: transformers needs a package that is not installed: npm install @huggingface/no-such-package',
  )
})

t.test('settings are validated', async (t) => {
  t.equal(await refusal({}), 'embedding_provider_config.model: is required')
  t.equal(
    await refusal({ model: 'a/b', pooling: 'max', prefix: 'x' }),
    'embedding_provider_config.prefix: is not a known key; embedding_provider_config.pooling: must be one of ' +
      '"mean", "cls"',
  )
})

t.test('the output of a model is validated', async (t) => {
  const says = async (config: Record<string, unknown>) => (
    await (await open(t, config)).embed(['a'], {}).then(() => '', (error: Error) => error.message)
  )
  t.match(
    await says({ model: 'fake/bigrams', dimensions: 384 }),
    'the model gives vectors of 32 numbers, and dimensions is 384',
  )
  t.match(
    await says({ model: 'fake/half', dimensions: 2 }),
    'the model gave numbers of the type float16 and not float32; another dtype may help',
  )
  t.match(await says({ model: 'fake/nan', dimensions: 2 }), 'the model gave something that is not a finite number')
  t.match(await refusal({ model: 'fake/tokens' }), 'the model gave numbers in the shape 1 by 3 by 8 for 1 texts')
})

t.test('a text that the runtime rejects fails, and so does one that ends it; others are not affected', async (t) => {
  const provider = await open(t)
  await t.rejects(provider.embed(['fail'], {}), new Error('embedding_provider: transformers: the runtime does ' +
    'not like it'))
  await t.rejects(provider.embed(['die'], {}), new Error('embedding_provider: transformers lost its thread'))
  t.equal((await provider.embed(['a'], {})).length, 1)
})

t.test('a process with the provider prints nothing, although the package does, and ends by itself', async (t) => {
  const program = `
    import { transformersEmbeddings } from './lib/models/transformers/providers.ts'
    const provider = await transformersEmbeddings(
      { model: 'fake/bigrams' }, { baseDirectory: '.' }, { module: ${JSON.stringify(MODULE)} })
    await provider.embed(['a', 'b'], {})
    console.log('done')`
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--import', 'tsx', '--input-type=module', '-e', program,
  ])
  t.strictSame([stdout, stderr], ['done\n', ''])
})
