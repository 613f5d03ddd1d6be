// Compiles the modules of this folder to WebAssembly, which is kept in the repository.
// With --check: compares the two instead, and fails where a module is not what its source gives.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const root = fileURLToPath(new URL('..', import.meta.url))

const MODULES = [
  { source: 'assembly/vectors.ts', target: 'lib/stores/in-memory/vectors.wasm' },
  { source: 'assembly/matrices.ts', target: 'lib/models/local/matrices.wasm' },
]

/** Compiles in memory. @returns the module's bytes @throws with the compiler's own messages */
async function compile (source) {
  let bytes
  const { error, stderr } = await asc.main([
    source,
    '--baseDir', root,
    '--outFile', 'module.wasm',
    '--enable', 'simd',
    '--runtime', 'stub',
    '--importMemory',
    '--noExportMemory',
    '-O3',
    '--noAssert',
  ], { writeFile: (_name, contents) => { bytes = contents } })
  if (error) throw new Error(`${error.message}\n${stderr.toString()}`)
  if (!(bytes instanceof Uint8Array)) throw new Error('The compiler wrote no module.')
  return bytes
}

/** A process that reads the module meanwhile sees the old one or the new one, never a half. */
function replaceFile (path, bytes) {
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, bytes)
  renameSync(temporary, path)
}

for (const { source, target } of MODULES) {
  try {
    const bytes = await compile(source)
    const path = fileURLToPath(new URL(`../${target}`, import.meta.url))
    if (!process.argv.includes('--check')) replaceFile(path, bytes)
    else if (!readFileSync(path).equals(bytes)) throw new Error(`${target} is not what it gives: run \`npm run build:wasm\` and commit the module`)
    console.log(`${target}: ${bytes.length} bytes, ${process.argv.includes('--check') ? `as ${source} gives them` : 'written'}`)
  } catch (error) {
    console.error(`${source}: ${error.message}`)
    process.exitCode = 1
  }
}
