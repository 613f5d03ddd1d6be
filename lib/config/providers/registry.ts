import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf } from '../../base/message-of.js'
import { didYouMean } from '../../base/wording.js'

/**
 * A provider is not available: an unknown name, a module that does not load, a class without a method. Ends the start.
 */
export class ProviderError extends Error {
  constructor (message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ProviderError'
  }
}

/** Minimum length of a value that is removed from a message; removing shorter ones would make it unreadable. */
const MIN_SECRET_CHARACTERS = 4

/**
 * A provider's name for metrics and spans. The path of a module is replaced, because it reveals paths of the machine.
 */
export function providerLabel (name: string): string {
  return name.includes(':') ? 'custom' : name
}

export type ProviderConfig = Readonly<Record<string, unknown>>

/** What a registered provider may need besides its own settings. */
export interface ProviderContext {
  /** The folder that relative paths start at. */
  baseDirectory: string
  /** Connection URI of the database that the environment names, and the variable that names it. */
  database?: { url?: string, variable?: string }
  /** Values of the variables that a setting of the map names, `api_key_env` for one. */
  environment?: Readonly<Record<string, string | undefined>> | undefined
  /** Take sentences for the operator's log, at the start and later. */
  info?: (message: string) => void
  warn?: (message: string) => void
}

export interface ProviderKind<T extends object> {
  /** The configuration key, for messages: `vector_store`. */
  key: string
  registered: Readonly<Record<string, (config: ProviderConfig, context: ProviderContext) => T | Promise<T>>>
  /** The methods that an instance must have. */
  methods: ReadonlyArray<keyof T & string>
}

/**
 * Makes the provider that the configuration names.
 * @param name a registered name, or `module:Class` — split at the last colon; a module that starts with `.` or `/` is a
 *   file (relative to `baseDirectory`), any other a package
 * @param config the `_config` map, which is passed unchanged to the factory or the constructor
 * @throws ProviderError that names the configuration key and never a value of the map
 */
export async function makeProvider<T extends object> (
  kind: ProviderKind<T>,
  name: string,
  config: ProviderConfig,
  baseDirectory: string,
  context: Omit<ProviderContext, 'baseDirectory'> = {},
): Promise<T> {
  const factory = Object.hasOwn(kind.registered, name) ? kind.registered[name] : undefined
  if (factory !== undefined) return await factory(config, { ...context, baseDirectory })
  const [module, className] = splitClassName(kind, name)
  const Class = await loadClass(kind.key, module, className, baseDirectory)
  const instance = construct(kind.key, name, Class, config)
  const missing = kind.methods.filter((method) => typeof Reflect.get(instance, method) !== 'function')
  if (missing.length > 0) {
    throw new ProviderError(`${kind.key}: ${name} lacks ${missing.map((method) => `${method}()`).join(', ')}`)
  }
  return instance as T
}

/** @throws ProviderError when the name is neither registered nor `module:Class` */
export function checkProviderName (kind: Pick<ProviderKind<object>, 'key' | 'registered'>, name: string): void {
  if (!Object.hasOwn(kind.registered, name)) splitClassName(kind, name)
}

function splitClassName (
  { key, registered }: Pick<ProviderKind<object>, 'key' | 'registered'>, name: string,
): [module: string, className: string] {
  const colon = name.lastIndexOf(':')
  if (colon > 0 && colon < name.length - 1) return [name.slice(0, colon), name.slice(colon + 1)]
  const names = Object.keys(registered)
  throw new ProviderError(`${key}: found ${JSON.stringify(name)}, allowed are ${names.join(', ')} and module:Class` +
    didYouMean(name, names))
}

/** @throws ProviderError when the map has a key that the provider does not know */
export function refuseUnknownKeys (key: string, config: ProviderConfig, known: readonly string[]): void {
  const unknown = Object.keys(config).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const verdict = unknown.length === 1 ? 'is not a known key' : 'are not known keys'
  const allowed = known.length === 0 ? 'there is nothing to set' : `allowed are ${known.join(', ')}`
  throw new ProviderError(`${key}: ${unknown.join(', ')} ${verdict}; ${allowed}`)
}

type ProviderClass = new (config: ProviderConfig) => unknown

async function loadClass (
  key: string, module: string, className: string, baseDirectory: string,
): Promise<ProviderClass> {
  const isFile = module.startsWith('.') || isAbsolute(module)
  let loaded: Record<string, unknown>
  try {
    const specifier = isFile ? pathToFileURL(resolve(baseDirectory, module)).href : module
    loaded = await import(specifier) as Record<string, unknown>
  } catch (cause) {
    throw new ProviderError(`${key}: the module ${JSON.stringify(module)} cannot be loaded: ${messageOf(cause)}`, cause)
  }
  const found = loaded[className]
  if (typeof found !== 'function') {
    const names = Object.keys(loaded).join(', ') || 'nothing'
    throw new ProviderError(`${key}: ${JSON.stringify(module)} exports no class ${className}; it exports ${names}`)
  }
  return found as ProviderClass
}

function construct (key: string, name: string, Class: ProviderClass, config: ProviderConfig): object {
  try {
    const instance = new Class(config)
    if (typeof instance === 'object' && instance !== null) return instance
  } catch (cause) {
    throw new ProviderError(`${key}: ${name} could not be made: ${withoutValues(messageOf(cause), config)}`, cause)
  }
  throw new ProviderError(`${key}: ${name} is not a class`)
}

/**
 * Removes the configured values, and parts of them, as of a URL, and the credentials of any URL: the message of an
 * operator's class may hold a password, also one that the class has read itself.
 */
export function withoutValues (message: string, config: ProviderConfig): string {
  const parts = leaves(config)
    .flatMap((value) => [value, ...value.split(/[\s:/@?&=,;]+/)])
    .filter((part) => part.length >= MIN_SECRET_CHARACTERS)
  return parts
    .sort((a, b) => b.length - a.length)
    .reduce((text, part) => text.replaceAll(part, '…'), message.replace(/\/\/[^\s/]+@/g, '//…@'))
}

function leaves (value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : []
}
