// Builds the console into dist/console/, with compressed copies of files that become smaller, which the server sends
// unchanged.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TARGET = join(ROOT, 'dist/console')
/** Smaller files are not compressed: their headers would outweigh the saving. */
const MIN_COMPRESSED_BYTES = 512

await build({ configFile: join(ROOT, 'console/vite.config.ts'), logLevel: 'warn' })
for (const name of readdirSync(TARGET, { recursive: true })) {
  if (!/\.(?:html|js|css|svg)$/.test(name)) continue
  const content = readFileSync(join(TARGET, name))
  if (content.length < MIN_COMPRESSED_BYTES) continue
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  writeFileSync(join(TARGET, `${name}.br`), brotliCompressSync(content, { params }))
  writeFileSync(join(TARGET, `${name}.gz`), gzipSync(content, { level: constants.Z_BEST_COMPRESSION }))
}
