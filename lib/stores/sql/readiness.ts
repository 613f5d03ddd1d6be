import { ProviderError } from '../../providers/registry.js'
import type { EmbeddingSpace, StoreStart } from '../vector-store.js'
import { SqlError, type Executor } from './executor.js'
import { HOW_TO_MIGRATE, migrate, pendingMigrations, type Migration } from './migrations.js'

/**
 * The first version with iterative index scans, without which a filtered search of a large bank could return nothing.
 */
export const MIN_PGVECTOR = [0, 8] as const

interface ReadinessOptions {
  executor: Executor
  /** Quoted. */
  schema: string
  migrations: readonly Migration[]
  bootstrapSchema: boolean
}

/**
 * Whether this server can work with the database: migrated, with pgvector, and with vectors of its embedding model. A
 * database that is unreachable at the start is checked before its first use.
 */
export class Readiness {
  readonly #options: ReadinessOptions
  #space: EmbeddingSpace | undefined
  #isDefaultSpace = false
  #warn: (message: string) => void = () => {}
  #ready = false
  #inFlight: Promise<void> | undefined

  constructor (options: ReadinessOptions) {
    this.#options = options
  }

  /** @throws ProviderError for an unsuitable database, and with bootstrapSchema for an unreachable one */
  async start (
    { space, isDefaultSpace = false, warn, info = () => {} }: Pick<
      StoreStart, 'space' | 'isDefaultSpace' | 'warn' | 'info'
    >,
  ): Promise<void> {
    const { executor, schema, migrations, bootstrapSchema } = this.#options
    this.#space = space
    this.#isDefaultSpace = isDefaultSpace
    this.#warn = warn
    try {
      if (bootstrapSchema) {
        await migrate(executor, schema, migrations, (name) => { info(`vector_store: applied the migration ${name}`) })
      }
      await this.#check()
      this.#ready = true
    } catch (error) {
      if (!(error instanceof SqlError)) throw error
      if (bootstrapSchema || error.kind === 'statement') {
        throw new ProviderError(`vector_store: the database cannot be used: ${error.message}`, error)
      }
      warn(`vector_store: the database does not answer yet, so the service is not ready: ${error.message}. Once it ` +
        `answers it has to be migrated: ${HOW_TO_MIGRATE}`)
    }
  }

  /** @throws SqlError while the database is unreachable or unsuitable */
  async ensure (): Promise<void> {
    if (this.#ready) return
    this.#inFlight ??= this.#check().then(() => { this.#ready = true }).finally(() => { this.#inFlight = undefined })
    try {
      await this.#inFlight
    } catch (error) {
      throw error instanceof ProviderError ? new SqlError('statement', error.message) : error
    }
  }

  async #check (): Promise<void> {
    const { executor, schema, migrations } = this.#options
    const pending = await pendingMigrations(executor, schema, migrations)
    if (pending.length > 0) {
      throw new ProviderError(`vector_store: the database lacks the migrations ${pending.join(', ')}: ` +
        `${HOW_TO_MIGRATE}`)
    }
    const [extension] = await executor.read<{ version: string }>('select extversion as version from pg_extension ' +
      'where extname = \'vector\'')
    const [major = 0, minor = 0] = (extension?.version ?? '').split('.').map(Number)
    if (major < MIN_PGVECTOR[0] || (major === MIN_PGVECTOR[0] && minor < MIN_PGVECTOR[1])) {
      throw new ProviderError(`vector_store: the extension vector must be version ${MIN_PGVECTOR.join('.')} or ` +
        `newer; the database has ${extension?.version ?? 'none'}`)
    }
    if (this.#space !== undefined) await this.#checkSpace(this.#space)
  }

  async #checkSpace ({ model, dimensions }: EmbeddingSpace): Promise<void> {
    const { executor, schema } = this.#options
    const otherSpaces = await executor.read<{ model: string, dimensions: number, banks: number }>(`
select v.model, v.dimensions, count(*)::int as banks from ${schema}.embedding_spaces v
where (v.model, v.dimensions) <> ($1, $2::int)
  and exists (select 1 from ${schema}.embeddings e where e.bank_key = v.bank_key)
group by v.model, v.dimensions order by 3 desc limit 5`, [model, dimensions])
    if (otherSpaces.length > 0) {
      const found = otherSpaces.map((other) => (
        `${other.banks} ${other.banks === 1 ? 'bank has' : 'banks have'} vectors of ${other.model} ` +
          `(${other.dimensions} dimensions)`
      )).join(', ')
      const isUsed = this.#isDefaultSpace ? 'it is not set, and its default' : 'the configured one'
      const message = `embedding_provider: ${isUsed} makes vectors of ${model} (${dimensions} dimensions), but ` +
        `${found}. Vectors of two models cannot be compared: configure the provider that made them, or move the ` +
        'banks with `npm run reembed` (node dist/scripts/reembed.js)'
      if (!this.#isDefaultSpace) throw new ProviderError(message)
      this.#warn(`${message}. Until then they are searched by words only`)
    }
    const [missing] = await executor.read<{ memories: number }>('select coalesce(sum(s.memories - s.embedded), ' +
      `0)::float8 as memories from ${schema}.bank_statistics s`)
    if (missing !== undefined && missing.memories > 0) {
      this.#warn(`embedding_provider: ${missing.memories} memories have no vector and are found by their words only ` +
        'until this server has computed theirs')
    }
  }
}
