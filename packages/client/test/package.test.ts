import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import t from 'tap'
import ts from 'typescript'
import { committedFile, generatedFiles } from '../scripts/generated.js'

const MOST_BYTES = 8 * 1024
const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))

t.test('the generated files are those of the present OpenAPI document', async (t) => {
  for (const [name, present] of Object.entries(await generatedFiles())) {
    // Not t.equal: the difference of two such files takes minutes.
    t.ok(await committedFile(name) === present, `\`npm run generate -w packages/client\` writes ${name}`)
  }
})

t.test('the whole client is smaller than 8 kB gzipped, and contains nothing of Node.js', async (t) => {
  const { outputFiles, metafile } = await build({
    entryPoints: [pathOf('../src/index.ts')],
    bundle: true,
    minify: true,
    format: 'esm',
    // An import of Node.js's own modules is an error here.
    platform: 'browser',
    target: 'es2022',
    write: false,
    metafile: true,
  })
  const size = gzipSync(outputFiles[0]!.contents).length
  t.comment(`${size} bytes`)
  t.ok(size < MOST_BYTES && size > 1024, `${size} bytes`)
  const foreign = Object.keys(metafile.inputs).filter((path) => !path.includes('packages/client/src/'))
  t.same(foreign, [])
  const tools = Object.keys(metafile.inputs).filter((path) => path.includes('src/tools/'))
  t.same(tools, [], 'the client without tools has none of their code')
  t.notMatch(outputFiles[0]!.text, /\b(?:process|Buffer|require|__dirname)\b/)
})

t.test('correct uses compile and wrong ones do not, without the types of Node.js', (t) => {
  const { config } = ts.readConfigFile(
    pathOf('../tsconfig.json'), ts.sys.readFile,
  ) as { config: { compilerOptions: object } }
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, pathOf('..'))
  // Each wrong use in the file is marked as one: it is an error there when it compiles.
  const program = ts.createProgram([pathOf('uses.ts')], options)
  const problems = ts.getPreEmitDiagnostics(program).map(({ messageText, file, start = 0 }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1
    return `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
  t.same(problems, [])
  const wrong = readFileSync(pathOf('uses.ts'), 'utf8').split('@ts-expect-error').length - 1
  t.ok(wrong >= 10, `${wrong} wrong uses`)
  t.end()
})

t.test('the package has only optional peer dependencies, and contains what it builds', (t) => {
  const manifest = JSON.parse(readFileSync(pathOf('../package.json'), 'utf8')) as Record<string, unknown>
  t.equal(manifest['dependencies'], undefined)
  const peers = Object.keys(manifest['peerDependencies'] as object)
  t.same(peers, ['@langchain/core', '@mastra/core', '@openai/agents', 'ai'])
  t.same(manifest['peerDependenciesMeta'], Object.fromEntries(peers.map((name) => [name, { optional: true }])))
  t.same(manifest['files'], ['dist'])
  t.end()
})
