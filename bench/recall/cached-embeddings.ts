import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type * as localProvider from '../../lib/models/local/embedding-provider.js'
import type { EmbeddingProvider, EmbedOptions } from '../../lib/models/embedding-provider.js'
import type { ProviderConfig } from '../../lib/config/providers/registry.js'

const KEY_BYTES = 32
/** Texts per request; the vectors are written to the file after each. */
const BATCH = 32

const { localEmbeddings }: typeof localProvider = await import(
  new URL('../../dist/lib/models/local/embedding-provider.js', import.meta.url).href,
)

/**
 * The embeddings of `local`, as the built library makes them, those of memories kept in a file by model and text: a
 * large corpus is embedded once. Its configuration is that of `local` and `file`. A file belongs to one version of the
 * model: use another when the model changes.
 */
export class CachedEmbeddings implements EmbeddingProvider {
  readonly model: string
  readonly dimensions: number
  readonly fusionWeight: number
  readonly deferred = true
  readonly #file: string
  readonly #local: EmbeddingProvider
  readonly #known = new Map<string, Float32Array>()

  constructor ({ file, ...config }: ProviderConfig) {
    if (typeof file !== 'string') throw new Error('embedding_provider_config.file must be a path')
    this.#file = file
    this.#local = localEmbeddings(config, {})
    this.model = this.#local.model ?? 'local'
    this.dimensions = this.#local.dimensions
    this.fusionWeight = this.#local.fusionWeight ?? 1
    this.#read()
  }

  /** Vectors of queries are not kept: they are few, and they change with the rule by which queries are embedded. */
  async embed (texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]> {
    if (options.purpose === 'query') return await this.#local.embed(texts, options)
    const keys = texts.map((text) => createHash('sha256').update(`${this.model} ${text}`).digest('base64'))
    const lacking =
      [...new Map(texts.map((text, index) => [keys[index]!, text] as const))].filter(([key]) => !this.#known.has(key))
    for (let start = 0; start < lacking.length; start += BATCH) {
      const some = lacking.slice(start, start + BATCH)
      const vectors = await this.#local.embed(some.map(([, text]) => text), options)
      appendFileSync(this.#file, Buffer.concat(some.flatMap(([key], index) => [
        Buffer.from(key, 'base64'), Buffer.from(vectors[index]!.buffer),
      ])))
      some.forEach(([key], index) => { this.#known.set(key, vectors[index]!) })
    }
    return keys.map((key) => this.#known.get(key)!.slice())
  }

  async close (): Promise<void> {
    await this.#local.close?.()
  }

  #read (): void {
    if (!existsSync(this.#file)) return
    const bytes = readFileSync(this.#file)
    const record = KEY_BYTES + this.dimensions * Float32Array.BYTES_PER_ELEMENT
    // A record that was incomplete when a run ended is computed again.
    for (let at = 0; at + record <= bytes.length; at += record) {
      const vector = new Float32Array(this.dimensions)
      new Uint8Array(vector.buffer).set(bytes.subarray(at + KEY_BYTES, at + record))
      this.#known.set(bytes.toString('base64', at, at + KEY_BYTES), vector)
    }
  }
}
