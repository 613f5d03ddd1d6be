import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { untilEmbedded } from '../../bench/recall/until-embedded.js'
import { readOptions } from '../../bench/recall/options.js'
import { choosePipeline, PIPELINES } from '../../bench/recall/pipelines.js'
import { configurationOf, embedderLabel } from '../../bench/recall/setting.js'
import { loadConfig } from '../../lib/config/load.js'

await t.test('without options the project\'s own conversation is measured by words', async (t) => {
  t.match(readOptions([]), {
    mode: 'run',
    at: 'server',
    data: [/own-conversation\.json$/],
    json: undefined,
    store: 'in_memory',
    runs: [{ name: 'default', pipeline: 'default', embedder: { name: 'none' } }],
  })
  t.strictSame(configurationOf({ pipeline: await choosePipeline('default'), embedder: { name: 'none' } }), {
    embedding_provider: 'mock',
  })
})

await t.test('each mode takes its own options', async (t) => {
  t.match(
    readOptions(['--embedder', 'local', '--embedder-config', '{"threads":1}', '--pipeline', 'bm25']),
    { runs: [{ name: 'bm25', pipeline: 'bm25', embedder: { name: 'local', config: { threads: 1 } } }] },
  )
  t.strictSame(readOptions(['--compare', 'a.json', 'b.json']), { mode: 'compare', a: 'a.json', b: 'b.json' })
  t.strictSame(
    readOptions(['--table', 'a.json', 'b.json', '--write-table', 'page.md']),
    { mode: 'table', reports: ['a.json', 'b.json'], writeTo: 'page.md' },
  )
  t.strictSame(readOptions(['--floor', 'floors.json']), { mode: 'floor', floors: 'floors.json', store: 'in_memory' })
  t.match(readOptions(['--library']), { mode: 'library', memories: [1500, 20_000], pipeline: 'default' })
  t.match(readOptions(['--library', '--memories', '10, 20']), { memories: [10, 20] })
})

await t.test('several data sets and pipelines are measured in one run', async (t) => {
  const options = readOptions([
    '--data', 'a.json', '--data', 'b.json', '--limit', '3', '--pipeline', 'bm25, default', '--pipeline', 'local',
    '--write-table', 'page.md',
  ])
  t.match(options, { data: ['a.json', 'b.json'], limit: 3, writeTo: 'page.md' })
  t.match(options, {
    runs: [
      { name: 'bm25' }, { name: 'default', embedder: { name: 'none' } },
      { name: 'local', pipeline: 'default', embedder: { name: 'local' } },
    ],
  })
  t.match(
    readOptions(['--in-process', '--pipeline', 'bm25']), { mode: 'run', at: 'process', runs: [{ pipeline: 'bm25' }] },
  )
  t.match(readOptions(['--without', 'time, document']), { omitted: ['time', 'document'] })
  t.match(readOptions(['--url', 'http://x']), { mode: 'run', at: 'url', url: 'http://x' })
})

await t.test('options that exclude each other are refused', async (t) => {
  const cases: Array<[string[], RegExp]> = [
    [['--url', 'http://x', '--store', 'pglite'], /--url and --store exclude each other/],
    [['--url', 'http://x', '--embedder', 'local'], /--url and --embedder exclude/],
    [['--compare', 'a.json'], /takes two files/],
    [['--compare', 'a.json', 'b.json', '--store', 'pglite'], /--compare: --store cannot be used here/],
    [['--table'], /takes the files/],
    [['a.json'], /files are given only to/],
    [['--memories', '10'], /--memories cannot be used here/],
    [['--library', '--memories', '10,x'], /--memories: found "x"/],
    [['--store', 'sqlite'], /--store: found sqlite, allowed are in_memory, pglite, postgres/],
    [['--embedder', 'local', '--embedder-config', '[]'], /must be a JSON object/],
    [['--embedder', 'local', '--embedder-config', '{'], /--embedder-config is not JSON/],
    [['--embedder-config', '{}'], /needs --embedder/],
    [['--in-process', '--store', 'pglite'], /--in-process and --store exclude/],
    [['--url', 'http://x', '--in-process'], /--url and --in-process exclude/],
    [['--pipeline', 'local', '--embedder', 'auto'], /--pipeline local and --embedder auto exclude/],
    [['--limit', '0'], /--limit: found "0"/],
    [['--without', 'time,place'], /--without: found place, allowed are speaker, time, document/],
    [['--floor', 'floors.json', '--without', 'time'], /--floor: --without cannot be used here/],
    [['--library', '--data', 'a.json', '--data', 'b.json'], /--data can be given only once/],
  ]
  for (const [args, message] of cases) t.throws(() => readOptions(args), { message }, args.join(' '))
  t.throws(() => readOptions(['--nope']), { code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION' })
})

await t.test('the configuration holds the retrieval section and the embedder', async (t) => {
  t.strictSame(
    configurationOf({
      pipeline: { name: 'x', retrieval: { bm25: { b: 0.5 } } }, embedder: { name: 'local', config: { threads: 1 } },
    }),
    { embedding_provider: 'local', embedding_provider_config: { threads: 1 }, retrieval: { bm25: { b: 0.5 } } },
  )
})

await t.test('the gateway takes the configuration of every pipeline', async (t) => {
  for (const name of Object.keys(PIPELINES)) {
    const configuration = configurationOf({ pipeline: await choosePipeline(name), embedder: { name: 'none' } })
    t.doesNotThrow(
      () => loadConfig({ SERVICES_CONFIG_PATH: 'bench.yaml' }, { readFile: () => JSON.stringify(configuration) }), name,
    )
  }
})

await t.test('a pipeline can be the retrieval section of a file', async (t) => {
  const folder = t.testdir({
    'mine.yaml': 'retrieval:\n  bm25: { k1: 1.2 }\nbanks: {}\n', 'none.yaml': 'banks: {}\n', 'broken.yaml': '[',
  })
  t.strictSame(await choosePipeline(join(folder, 'mine.yaml')), { name: 'mine', retrieval: { bm25: { k1: 1.2 } } })
  await t.rejects(choosePipeline(join(folder, 'none.yaml')), { message: /has no section `retrieval`/ })
  await t.rejects(choosePipeline(join(folder, 'broken.yaml')), { message: /is not YAML/ })
  await t.rejects(choosePipeline(join(folder, 'missing.yaml')), { message: /cannot be read/ })
  for (const name of ['plain', 'toString']) {
    await t.rejects(choosePipeline(name), { message: /allowed are default, bm25/ })
  }
  await writeFile(join(folder, 'none.yaml'), 'retrieval: []\n')
  await t.rejects(choosePipeline(join(folder, 'none.yaml')), { message: /has no section/ })
})

await t.test('the name of an embedder contains its model and no other setting', async (t) => {
  t.equal(
    embedderLabel({ name: 'openai_compatible', config: { model: 'small', api_key: 'secret' } }),
    'openai_compatible (small)',
  )
  t.equal(embedderLabel({ name: 'local' }), 'local')
})

await t.test('the measurement waits until no embedding is pending, within a time limit', async (t) => {
  const answers = [{ pending_embeddings: 2, memory_count: 3 }, { pending_embeddings: 1 }, { pending_embeddings: 0 }]
  await untilEmbedded(async () => answers.shift(), { pauseMs: 1 })
  t.equal(answers.length, 0)
  await untilEmbedded(async () => ({ memory_count: 3 }))
  await t.rejects(
    untilEmbedded(async () => ({ pending_embeddings: 4 }), { pauseMs: 1, limitMs: 5 }),
    { message: /^4 memories are still without a vector/ },
  )
})
