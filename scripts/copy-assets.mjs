// Copies into dist/ what the program reads at run time and tsc does not emit.
import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const assets = [
  'lib/stores/in-memory/vectors.wasm',
  'lib/stores/sql/pglite-worker.mjs',
  'lib/models/local/worker.mjs',
  'lib/models/local/use-engine.mjs',
  'lib/models/transformers/engine.mjs',
]

for (const asset of assets) {
  const from = fileURLToPath(new URL(`../${asset}`, import.meta.url))
  const to = fileURLToPath(new URL(`../dist/${asset}`, import.meta.url))
  try {
    mkdirSync(dirname(to), { recursive: true })
    copyFileSync(from, to)
  } catch (error) {
    console.error(`copy-assets: ${asset}: ${error.message} (\`npm run build:wasm\` makes the module)`)
    process.exitCode = 1
  }
}
