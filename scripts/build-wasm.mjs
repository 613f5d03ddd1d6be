// Compiles assembly/vectors.ts to lib/stores/in-memory/vectors.wasm, unless that file is already up to date.
import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = fileURLToPath(new URL('../assembly/vectors.ts', import.meta.url))
const target = fileURLToPath(new URL('../lib/stores/in-memory/vectors.wasm', import.meta.url))

function modifiedAt (path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** Compiles in memory. @returns the module's bytes @throws with the compiler's own messages */
async function compile () {
  // Loaded here and not above: the compiler takes a second to load, and most runs do not need it.
  const { default: asc } = await import('assemblyscript/asc')
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
  const temporary = `${path}.${process.pid}.tmp.wasm`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(temporary, bytes)
  renameSync(temporary, path)
}

const newestInput = Math.max(modifiedAt(source), modifiedAt(fileURLToPath(import.meta.url)))
if (modifiedAt(target) <= newestInput) {
  try {
    const bytes = await compile()
    replaceFile(target, bytes)
    console.log(`build-wasm: ${target} (${bytes.length} bytes)`)
  } catch (error) {
    console.error(`build-wasm: assembly/vectors.ts did not compile: ${error.message}`)
    process.exitCode = 1
  }
}
