import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A provider that cannot be had: an unknown name, a module that does not load, a class that lacks a method. Ends the start. */
export class ProviderError extends Error {
  constructor (message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ProviderError'
  }
}

/** Striking out shorter values would leave nothing of a message to read. */
const SHORTEST_SECRET = 4

/** A provider's name for metrics and spans: a registered one as it stands; a path to a module tells of the machine. */
export function providerLabel (name: string): string {
  return name.includes(':') ? 'custom' : name
}

export type ProviderConfig = Readonly<Record<string, unknown>>

/** What a registered provider may need beside its own map. */
export interface ProviderSurroundings {
  /** Where relative paths start. */
  baseDirectory: string
  /** Connection URI of the database that the environment names. */
  databaseUrl?: string | undefined
  /** Values of the variables that a setting of the map names, `api_key_env` for one. */
  environment?: Readonly<Record<string, string | undefined>> | undefined
  /** Take sentences for the operator's log, at the start and later. */
  info?: (message: string) => void
  warn?: (message: string) => void
}

export interface ProviderKind<T extends object> {
  /** The configuration key, for messages: `vector_store`. */
  key: string
  registered: Readonly<Record<string, (config: ProviderConfig, surroundings: ProviderSurroundings) => T | Promise<T>>>
  /** What the interface demands of an instance. */
  methods: ReadonlyArray<keyof T & string>
}

/**
 * Makes the provider that the configuration names.
 * @param name a registered name, or `module:Class` — split at the last colon; a module that starts with `.` or `/` is a
 *   file (relative to `baseDirectory`), any other a package
 * @param config the `_config` map, handed to the factory or the constructor as it stands
 * @throws ProviderError that names the configuration key and never a value of the map
 */
export async function makeProvider<T extends object> (kind: ProviderKind<T>, name: string, config: ProviderConfig, baseDirectory: string, surroundings: Omit<ProviderSurroundings, 'baseDirectory'> = {}): Promise<T> {
  const factory = Object.hasOwn(kind.registered, name) ? kind.registered[name] : undefined
  if (factory !== undefined) return await factory(config, { ...surroundings, baseDirectory })
  const colon = name.lastIndexOf(':')
  if (colon <= 0 || colon === name.length - 1) {
    throw new ProviderError(`${kind.key}: found ${JSON.stringify(name)}, allowed are ${Object.keys(kind.registered).join(', ')} and module:Class`)
  }
  const Class = await loadClass(kind.key, name.slice(0, colon), name.slice(colon + 1), baseDirectory)
  const instance = construct(kind.key, name, Class, config)
  const missing = kind.methods.filter((method) => typeof Reflect.get(instance, method) !== 'function')
  if (missing.length > 0) throw new ProviderError(`${kind.key}: ${name} lacks ${missing.map((method) => `${method}()`).join(', ')}`)
  return instance as T
}

/** @throws ProviderError when the map has a key that the provider does not know */
export function refuseUnknownKeys (key: string, config: ProviderConfig, known: readonly string[]): void {
  const unknown = Object.keys(config).filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    throw new ProviderError(`${key}: ${unknown.join(', ')} ${unknown.length === 1 ? 'is not a known key' : 'are not known keys'}; ${known.length === 0 ? 'there is nothing to set' : `allowed are ${known.join(', ')}`}`)
  }
}

async function loadClass (key: string, module: string, className: string, baseDirectory: string): Promise<new (config: ProviderConfig) => unknown> {
  const isFile = module.startsWith('.') || isAbsolute(module)
  let loaded: Record<string, unknown>
  try {
    loaded = await import(isFile ? pathToFileURL(resolve(baseDirectory, module)).href : module) as Record<string, unknown>
  } catch (cause) {
    throw new ProviderError(`${key}: the module ${JSON.stringify(module)} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
  }
  const found = loaded[className]
  if (typeof found !== 'function') {
    throw new ProviderError(`${key}: ${JSON.stringify(module)} exports no class ${className}; it exports ${Object.keys(loaded).join(', ') || 'nothing'}`)
  }
  return found as new (config: ProviderConfig) => unknown
}

function construct (key: string, name: string, Class: new (config: ProviderConfig) => unknown, config: ProviderConfig): object {
  try {
    const instance = new Class(config)
    if (typeof instance === 'object' && instance !== null) return instance
  } catch (cause) {
    throw new ProviderError(`${key}: ${name} could not be made: ${withoutValues(cause instanceof Error ? cause.message : String(cause), config)}`, cause)
  }
  throw new ProviderError(`${key}: ${name} is not a class`)
}

/** A foreign class may say anything, the password it was given too: values of the map, and their parts (of a URL, say), are struck out. */
function withoutValues (message: string, config: ProviderConfig): string {
  const parts = leaves(config).flatMap((value) => [value, ...value.split(/[\s:/@?&=,;]+/)]).filter((part) => part.length >= SHORTEST_SECRET)
  return parts.sort((a, b) => b.length - a.length).reduce((text, part) => text.replaceAll(part, '…'), message)
}

function leaves (value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : []
}
