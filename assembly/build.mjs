// Compiles the modules of this folder to WebAssembly files, which are committed to the repository. With --check it
// compares the committed files with freshly compiled ones instead, and fails when one of them differs.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const root = fileURLToPath(new URL('..', import.meta.url))

const MODULES = [
  { source: 'assembly/matrices.ts', target: 'lib/models/local/matrices.wasm' },
]

/** Compiles a source in memory. @returns the bytes of the module @throws Error with the messages of the compiler */
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
  if (!(bytes instanceof Uint8Array)) throw new Error('The compiler wrote no module')
  return bytes
}

/** Replaces a file in one step, so that a process that reads it meanwhile sees either the old or the new content. */
function replaceFile (path, bytes) {
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, bytes)
  renameSync(temporary, path)
}

for (const { source, target } of MODULES) {
  try {
    const bytes = await compile(source)
    const path = fileURLToPath(new URL(`../${target}`, import.meta.url))
    const isCheck = process.argv.includes('--check')
    if (!isCheck) replaceFile(path, bytes)
    else if (!readFileSync(path).equals(bytes)) {
      throw new Error(`${target} differs from the compiled source. Run \`npm run build:wasm\` and commit the file`)
    }
    console.log(`${target}: ${bytes.length} bytes, ${isCheck ? `matches ${source}` : 'written'}`)
  } catch (error) {
    console.error(`${source}: ${error.message}`)
    process.exitCode = 1
  }
}
