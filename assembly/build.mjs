// Compiles assembly/vectors.ts to lib/stores/in-memory/vectors.wasm, which is kept in the repository.
// With --check: compares the two instead, and fails where the module is not what the source gives.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = fileURLToPath(new URL('../lib/stores/in-memory/vectors.wasm', import.meta.url))

/** Compiles in memory. @returns the module's bytes @throws with the compiler's own messages */
async function compile () {
  let bytes
  const { error, stderr } = await asc.main([
    'assembly/vectors.ts',
    '--baseDir', root,
    '--outFile', 'vectors.wasm',
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

try {
  const bytes = await compile()
  if (!process.argv.includes('--check')) replaceFile(target, bytes)
  else if (!readFileSync(target).equals(bytes)) throw new Error('lib/stores/in-memory/vectors.wasm is not what it gives: run `npm run build:wasm` and commit the module')
  console.log(`vectors.wasm: ${bytes.length} bytes, ${process.argv.includes('--check') ? 'as assembly/vectors.ts gives them' : 'written'}`)
} catch (error) {
  console.error(`assembly/vectors.ts: ${error.message}`)
  process.exitCode = 1
}
