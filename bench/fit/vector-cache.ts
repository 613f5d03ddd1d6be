import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { embeddingProviders } from '../../lib/models/registry.js'
import type { EmbeddingProvider } from '../../lib/models/embedding-provider.js'
import { makeProvider } from '../../lib/config/providers/registry.js'

/** A provider whose vectors are kept in a file, because computing them takes minutes. */
export async function openCached (name: string, file: string | undefined): Promise<EmbeddingProvider> {
  const provider = await makeProvider(embeddingProviders, name, {}, process.cwd())
  const cached = new Map<string, number[]>(
    file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) as Array<[string, number[]]> : [],
  )
  return {
    dimensions: provider.dimensions,
    fusionWeight: provider.fusionWeight,
    embed: async (texts, options) => await Promise.all(texts.map(async (text) => {
      const key = createHash('sha256').update(`${name} ${options.purpose ?? 'document'} ${text}`).digest('base64')
      const known = cached.get(key)
      if (known !== undefined) return Float32Array.from(known)
      const [vector] = await provider.embed([text], options)
      cached.set(key, [...vector!].map((value) => Math.round(value * 1e6) / 1e6))
      return vector!
    })),
    close: async () => {
      if (file !== undefined) writeFileSync(file, JSON.stringify([...cached]))
      await provider.close?.()
    },
  }
}
