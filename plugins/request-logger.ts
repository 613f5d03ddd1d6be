import type { FastifyBaseLogger } from 'fastify'

type Bindings = Parameters<FastifyBaseLogger['child']>[0]
type Options = Parameters<FastifyBaseLogger['child']>[1]
type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/**
 * The logger of one request. It creates the child logger that Fastify asks for at its first use, since most requests
 * log nothing themselves.
 */
export function requestLogger (parent: FastifyBaseLogger, bindings: Bindings, options: Options): FastifyBaseLogger {
  return new RequestLogger(parent, bindings, options)
}

class RequestLogger implements FastifyBaseLogger {
  readonly #parent: FastifyBaseLogger
  readonly #bindings: Bindings
  readonly #options: Options
  #child: FastifyBaseLogger | undefined

  constructor (parent: FastifyBaseLogger, bindings: Bindings, options: Options) {
    this.#parent = parent
    this.#bindings = bindings
    this.#options = options
  }

  get level (): FastifyBaseLogger['level'] {
    return this.#logger.level
  }

  set level (level: FastifyBaseLogger['level']) {
    this.#logger.level = level
  }

  get #logger (): FastifyBaseLogger {
    this.#child ??= this.#parent.child(this.#bindings, this.#options)
    return this.#child
  }

  child (bindings: Bindings, options?: Options): FastifyBaseLogger {
    return this.#logger.child(bindings, options)
  }

  trace (...line: unknown[]): void { this.#log('trace', line) }
  debug (...line: unknown[]): void { this.#log('debug', line) }
  info (...line: unknown[]): void { this.#log('info', line) }
  warn (...line: unknown[]): void { this.#log('warn', line) }
  error (...line: unknown[]): void { this.#log('error', line) }
  fatal (...line: unknown[]): void { this.#log('fatal', line) }
  silent (...line: unknown[]): void { this.#log('silent', line) }

  #log (level: Level, line: unknown[]): void {
    const child = this.#logger
    Reflect.apply(child[level], child, line)
  }
}
