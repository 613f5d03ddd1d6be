import { resolve } from 'node:path'
import type { ErrorObject } from 'ajv'
import {
  LineCounter, parseDocument, isAlias, isMap, isNode, isScalar, isSeq, type ErrorCode, type Alias, type Document,
  type Node, type Pair, type YAMLMap, type YAMLSeq,
} from 'yaml'
import { isJsonObject } from '../base/json-object.js'
import { SETTINGS_WORDS, validatorOf, valuesOf } from '../base/schema-check.js'
import { childOf, mayBeEmpty, branchOf, branchTypes, type SchemaNode } from '../base/schema-node.js'
import { didYouMean, nearest } from '../base/wording.js'
import { reasonOf, type EnvironmentReader, type ReadFile } from './environment.js'
import { formatPath, toPointer, fromPointer, printable, quote, quoteAll, type Path } from './problems.js'
import { PROVIDER_SETTINGS } from './providers/schemas.js'
import { FileSchema, type FileConfig } from './schema.js'

const ERROR_LIMIT = 3

// Messages of our own, because those of the parser quote the file, which may contain a secret.
const FAULTS: Record<ErrorCode, string> = {
  ALIAS_PROPS: 'an alias may not carry a tag or an anchor',
  BAD_ALIAS: 'an alias or anchor has a bad name',
  BAD_COLLECTION_TYPE: 'a tag does not fit what it stands before',
  BAD_DIRECTIVE: 'a directive that is not known',
  BAD_DQ_ESCAPE: 'a double-quoted text has an escape that is not known',
  BAD_INDENT: 'the indentation is wrong, or a bracket is not closed',
  BAD_PROP_ORDER: 'a tag or anchor stands in the wrong place',
  BAD_SCALAR_START: 'a text that begins with this character needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a text with a colon in it needs quotes, or the indentation is wrong',
  BLOCK_IN_FLOW: 'an indented block may not stand within brackets',
  DUPLICATE_KEY: 'a key is given twice',
  IMPOSSIBLE: 'this is not YAML',
  KEY_OVER_1024_CHARS: 'a key is over 1024 characters',
  MISSING_CHAR: 'a character is missing, such as a quote, a colon or a comma',
  MULTILINE_IMPLICIT_KEY: 'a key is spread over several lines, or a colon is missing',
  MULTIPLE_ANCHORS: 'a value has two anchors',
  MULTIPLE_DOCS: 'the file has several documents, allowed is one',
  MULTIPLE_TAGS: 'a value has two tags',
  NON_STRING_KEY: 'a key is not a text',
  RESOURCE_EXHAUSTION: 'the file is nested too deeply',
  TAB_AS_INDENT: 'tabs may not indent',
  TAG_RESOLVE_FAILED: 'a tag that is not known, or does not fit its value',
  UNEXPECTED_TOKEN: 'this is not expected here',
}

/**
 * Reads one YAML 1.2 document with the core schema into plain values.
 * @param schema decides where an empty value (`homeostasis:` without a line under it) means absent
 * @param name the name of the file in problems
 * @returns undefined when the text is not such a document; an empty map when it is empty
 */
export function readYaml (text: string, schema: SchemaNode, name: string, onText: OnText, problems: string[]): unknown {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    resolveKnownTags: false,
    // The tree reader finds duplicate keys, also a number and the same digits in quotes.
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
  })
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `line ${line}, column ${col}`
  }
  const faults = [...document.errors, ...document.warnings].map(({ code, pos }) => (
    `${name}: ${at(pos[0])}: ${FAULTS[code]}`
  ))
  if (document.directives.yaml.explicit === true && document.directives.yaml.version !== '1.2') {
    faults.push(`${name}: the %YAML directive asks for another version, allowed is 1.2`)
  }
  // The first fault causes most of those after it.
  problems.push(...faults.slice(0, ERROR_LIMIT))
  if (faults.length > 0) return undefined
  return new TreeReader(document, at, onText, problems).read(document.contents, schema, []) ?? {}
}

/** Replaces a text of the file by its value. */
type OnText = (text: string, path: Path, schema: SchemaNode | undefined) => unknown

const ALIAS_LIMIT = 100

/**
 * Converts parsed nodes to plain values. Keys are texts as written (a bank may be called 007), all keys of a map are
 * own properties (`__proto__` too), and the expansion of aliases is bounded. The parser's own conversion does none of
 * this, and its warnings may contain secrets.
 */
class TreeReader {
  readonly #document: Document.Parsed
  readonly #at: (offset: number) => string
  readonly #onText: OnText
  readonly #problems: string[]
  readonly #open = new Set<Node>()
  #aliases = 0

  constructor (document: Document.Parsed, at: (offset: number) => string, onText: OnText, problems: string[]) {
    this.#document = document
    this.#at = at
    this.#onText = onText
    this.#problems = problems
  }

  read (node: unknown, schema: SchemaNode | undefined, path: Path): unknown {
    if (isAlias(node)) return this.#alias(node, schema, path)
    if (isMap(node)) return this.#inside(node, () => this.#map(node, schema, path))
    if (isSeq(node)) return this.#inside(node, () => this.#list(node, schema, path))
    if (!isScalar(node)) return null
    return typeof node.value === 'string' ? this.#onText(node.value, path, schema) : node.value
  }

  #map (node: YAMLMap, schema: SchemaNode | undefined, path: Path): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    for (const pair of node.items) {
      const key = keyOf(pair)
      if (key === undefined) {
        this.#fault(path, pair.key ?? node, 'a key is not a text')
      } else if (Object.hasOwn(map, key)) {
        this.#fault([...path, key], pair.key, 'the key is given twice')
      } else {
        const value = this.read(pair.value, childOf(schema, key), [...path, key])
        if (value === null && mayBeEmpty(schema, key)) continue
        // An assignment to `__proto__` would change the prototype of the map.
        Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true })
      }
    }
    return map
  }

  #list (node: YAMLSeq, schema: SchemaNode | undefined, path: Path): unknown[] {
    return node.items.map((item, index) => this.read(item, childOf(schema, index), [...path, index]))
  }

  #alias (node: Alias, schema: SchemaNode | undefined, path: Path): unknown {
    this.#aliases += 1
    if (this.#aliases === ALIAS_LIMIT + 1) {
      this.#fault(
        path, node, `the file has too many aliases, allowed are ${ALIAS_LIMIT}, counted after they are replaced`,
      )
    }
    if (this.#aliases > ALIAS_LIMIT) return null
    const target = node.resolve(this.#document)
    if (target !== undefined && !this.#open.has(target)) return this.read(target, schema, path)
    this.#fault(
      path, node, target === undefined ? 'an alias without an anchor before it' : 'an alias that contains itself',
    )
    return null
  }

  #inside<T> (node: Node, read: () => T): T {
    this.#open.add(node)
    try {
      return read()
    } finally {
      this.#open.delete(node)
    }
  }

  #fault (path: Path, node: unknown, what: string): void {
    const offset = isNode(node) ? node.range?.[0] : undefined
    const place = offset === undefined ? '' : ` (${this.#at(offset)})`
    this.#problems.push(`${formatPath(path)}: ${what}${place}`)
  }
}

// The written form of a number or boolean, as 007 and 7 are two banks.
function keyOf ({ key }: Pair): string | undefined {
  if (!isScalar(key)) return undefined
  if (typeof key.value === 'string') return key.value
  return key.source === '' ? undefined : key.source
}

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g

/** Replaces `${NAME}` in the texts of the file by variables of the environment. */
class Substitution {
  /** JSON pointers to the values that came from the environment, each of which may be a secret. */
  readonly resolved = new Set<string>()
  /** Those that could not be substituted. The problem is reported, and the value has no meaning. */
  readonly unresolved = new Set<string>()
  readonly #reader: EnvironmentReader
  readonly #problems: string[]

  constructor (reader: EnvironmentReader, problems: string[]) {
    this.#reader = reader
    this.#problems = problems
  }

  /**
   * `$${` is a literal `${`. A substituted value is not searched again. A text that is a single reference becomes a
   * number or boolean where the schema requires one.
   */
  apply (text: string, path: Path, schema: SchemaNode | undefined): string | number | boolean {
    const replaced = text.replace(REFERENCE, (found: string, name: string | undefined) => {
      if (found === '$${') return '${'
      return name === undefined ? this.#malformed(path) : this.#resolve(name, path)
    })
    const whole = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(text)
    return whole ? convertedText(replaced, schema?.type) : replaced
  }

  #resolve (name: string, path: Path): string {
    this.resolved.add(toPointer(path))
    const { value, problem } = this.#reader.lookUp(name)
    if (value !== undefined) return value
    this.unresolved.add(toPointer(path))
    this.#problems.push(`${formatPath(path)}: \${${name}} cannot be replaced, ${problem ?? `${name} is not set`}`)
    return ''
  }

  #malformed (path: Path): string {
    this.unresolved.add(toPointer(path))
    this.#problems.push(`${formatPath(path)}: "\${" does not begin a reference of the form \${NAME}; write "$\${" ` +
      'for a literal "${"')
    return ''
  }
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/**
 * The number or boolean that a text spells, where the schema has one: every variable of the environment is a text.
 * @param type that of the schema
 */
function convertedText (text: string, type: unknown): string | number | boolean {
  const trimmed = text.trim()
  if ((type === 'number' || type === 'integer') && NUMBER.test(trimmed)) return Number(trimmed)
  if (type === 'boolean' && (trimmed === 'true' || trimmed === 'false')) return trimmed === 'true'
  return text
}

/**
 * Converts texts in the settings of registered providers, which the schema of the file does not contain. A class of the
 * operator's own has no schema, so its settings stay as they are.
 */
export function withTypedSettings (file: FileConfig): FileConfig {
  const maps = PROVIDER_SETTINGS.flatMap(({ key, name, schema }) => {
    const at = `${key}_config` as const
    const { default: byDefault }: SchemaNode = FileSchema.properties[key]
    const isRegistered = file[at] !== undefined && name === (file[key] ?? byDefault)
    return isRegistered ? [[at, converted(file[at], schema)] as const] : []
  })
  return { ...file, ...Object.fromEntries(maps) }
}

function converted (value: unknown, schema: SchemaNode = {}): unknown {
  if (typeof value === 'string') return convertedText(value, schema.type)
  if (schema.properties === undefined || !isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, child]) => (
    [name, converted(child, childOf(schema, name))]
  )))
}

const PROVIDERS = ['vector_store', 'llm_provider', 'embedding_provider', 'reranker']
/** Sections that are checked with each other. */
const GROUPS = [...PROVIDERS.map((name) => [name, `${name}_config`]), ['banks', 'profiles']]
const SENSITIVE = /secret|passw|pwd|token|key|dsn|url|uri|credential|private/i

/** All problems are reported, however large the file is. */
const validate = validatorOf(FileSchema, Infinity)
const isFileConfig = (value: unknown): value is FileConfig => validate(value)

export interface CheckedFile {
  file: FileConfig
  /** False when the file is invalid, and `file` has only some of its valid sections. */
  isComplete: boolean
}

/**
 * Checks a value against the schema of the file.
 * @param problems gets the reasons when the value is invalid
 * @returns undefined when the value is no map
 */
function validateFile (
  value: unknown, substituted: Substitution, problems: string[],
): CheckedFile | undefined {
  if (isFileConfig(value)) return { file: value, isComplete: true }
  const errors = validate.problems
  problems.push(...describeErrors(errors, value, substituted))
  return isJsonObject(value) ? { file: validSections(value, errors), isComplete: false } : undefined
}

/**
 * The sections of an invalid file that can be checked further, so that their problems are reported together with those
 * of the schema. Sections that are checked with a wrong one are left out: a problem of theirs may be its consequence.
 */
function validSections (value: Record<string, unknown>, errors: readonly ErrorObject[]): FileConfig {
  const wrong = new Set(errors.flatMap((error) => sectionsOf(error, value)))
  for (const name of PROVIDERS) if (!Object.hasOwn(value, name)) wrong.add(name)
  for (const group of GROUPS) if (group.some((key) => wrong.has(key))) for (const key of group) wrong.add(key)
  return Object.fromEntries(Object.entries(value).filter(([key]) => !wrong.has(key)))
}

/** The section of an error, and for an unknown key also the one that was probably meant. */
function sectionsOf ({ instancePath, params }: ErrorObject, value: Record<string, unknown>): string[] {
  const [section] = fromPointer(instancePath, value)
  if (section !== undefined) return [String(section)]
  const unknown = String(params['additionalProperty'])
  return [unknown, nearest(unknown, Object.keys(FileSchema.properties)) ?? unknown]
}

/** One sentence for each error: the path, the value and what is allowed. A value that may be a secret is not quoted. */
function describeErrors (errors: readonly ErrorObject[], root: unknown, substituted: Substitution): string[] {
  return withoutUnionNoise(errors)
    .filter((error) => !substituted.unresolved.has(error.instancePath))
    .map((error) => sentence(error, fromPointer(error.instancePath, root), substituted))
}

function sentence (error: ErrorObject, path: Path, substituted: Substitution): string {
  const schema: SchemaNode = error.parentSchema ?? {}
  const { keyword, params, data, instancePath } = error
  if (keyword === 'additionalProperties') return unknownKey(String(params['additionalProperty']), path, schema)
  if (keyword === 'required') return `${formatPath([...path, String(params['missingProperty'])])} is missing`
  if (keyword === 'anyOf') return badBranch(data, path, schema, substituted.resolved.has(`${instancePath}/type`))
  return wrongValue(data, path, schema, substituted.resolved.has(instancePath))
}

function unknownKey (key: string, path: Path, schema: SchemaNode): string {
  if (schema.properties === undefined) {
    return `${formatPath(path)}: found the key "${printable(key)}", allowed is ${String(schema['x-keys'])}`
  }
  const place = formatPath([...path, key])
  const allowed = Object.keys(schema.properties)
  const meant = nearest(key, allowed)
  if (meant !== undefined) return `${place} is not a known key; did you mean "${meant}"?`
  return `${place} is not a known key, allowed ${allowed.length === 1 ? 'is' : 'are'} ${quoteAll(allowed)}`
}

function wrongValue (value: unknown, path: Path, schema: SchemaNode, substituted: boolean): string {
  const options = (schema.enum ?? [schema.const]).filter((option) => typeof option === 'string')
  const hidden = substituted || isSensitive(path, value, schema)
  const verb = (schema.enum?.length ?? 1) > 1 || schema.type === 'boolean' ? 'are' : 'is'
  const hint = typeof value === 'string' && !hidden ? didYouMean(value, options) : ''
  const found = hidden && value !== null ? `${kindOf(value)} (not shown)` : displayValue(value)
  return `${formatPath(path)}: found ${found}, allowed ${verb} ${describe(schema)}${hint}`
}

function badBranch (value: unknown, path: Path, schema: SchemaNode, substituted: boolean): string {
  if (!isJsonObject(value)) return wrongValue(value, path, schema, true)
  const typePath = [...path, 'type']
  const types = branchTypes(schema)
  if (!Object.hasOwn(value, 'type')) return `${formatPath(typePath)} is missing, allowed are ${quoteAll(types)}`
  return wrongValue(value['type'], typePath, { enum: types }, substituted)
}

/** Keeps the errors of the union branch that `type` chooses; the error of the union itself only if it chooses none. */
function withoutUnionNoise (errors: readonly ErrorObject[]): ErrorObject[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf')
  return errors.filter((error) => {
    if (error.keyword === 'anyOf') return chosenBranch(error) === -1
    return unions.every((union) => (
      !belongsTo(error, union) || error.schemaPath.startsWith(`${union.schemaPath}/${chosenBranch(union)}/`)
    ))
  })
}

function chosenBranch (union: ErrorObject): number {
  return branchOf(union.parentSchema ?? {}, union.data)
}

function belongsTo (error: ErrorObject, union: ErrorObject): boolean {
  return `${error.instancePath}/`.startsWith(`${union.instancePath}/`) &&
    error.schemaPath.startsWith(`${union.schemaPath}/`)
}

function isSensitive (path: Path, value: unknown, schema: SchemaNode): boolean {
  // A number where a number is expected is out of range and not a secret, as in recall_max_tokens.
  const expected = schema.type === 'integer' || schema.type === 'number'
  if (expected && typeof value === 'number') return false
  return path.some((segment) => typeof segment === 'string' && (SENSITIVE.test(segment) || segment.endsWith('_config')))
}

function displayValue (value: unknown): string {
  if (typeof value === 'string') return quote(value)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindOf(value)
}

function kindOf (value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return typeof value === 'string' ? 'a text' : typeof value === 'object' ? 'a map' : `a ${typeof value}`
}

/** The allowed values in words: `an integer from 1 to 10`, `"owner_only", "open", "deny"`. */
export function describe (schema: SchemaNode): string {
  if (schema.enum !== undefined) return quoteAll(schema.enum.map(String))
  if (schema.const !== undefined) return quoteAll([String(schema.const)])
  if (schema.anyOf !== undefined) return `a map with the key type, one of ${quoteAll(branchTypes(schema))}`
  if (schema.type === 'boolean') return 'true, false'
  return schema.type === undefined ? 'anything' : valuesOf(String(schema.type), schema, SETTINGS_WORDS).join(' or ')
}

/** @param keys the keys to read, default all; other known keys are left out and their values not checked */
export function readFileConfig (
  path: string, cwd: string, readFile: ReadFile, reader: EnvironmentReader, problems: string[],
  keys?: ReadonlyArray<keyof FileConfig>,
): CheckedFile | undefined {
  let text: string
  try {
    text = readFile(resolve(cwd, path))
  } catch (error) {
    problems.push(`SERVICES_CONFIG_PATH: found ${quote(path)}, which cannot be read (${reasonOf(error)}), ` +
      'allowed is the path of a YAML file')
    return undefined
  }
  const substitution = new Substitution(reader, problems)
  const isUnused = (key: unknown) => (
    keys !== undefined && !keys.some((used) => used === key) && Object.hasOwn(FileSchema.properties, String(key))
  )
  const value = readYaml(text, FileSchema, printable(path), (found, place, schema) => (
    isUnused(place[0]) ? found : substitution.apply(found, place, schema)
  ), problems)
  if (value === undefined) return undefined
  // An unknown key stays and is reported, because it may be a misspelt key that is used.
  const used = isJsonObject(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => !isUnused(key))) : value
  return validateFile(used, substitution, problems)
}

/** Copies the object of the caller, because the configuration is frozen. */
export function checkFileConfig (
  given: FileConfig, configPath: string | undefined, reader: EnvironmentReader, problems: string[],
): CheckedFile | undefined {
  if (configPath !== undefined) {
    problems.push('SERVICES_CONFIG_PATH is set, but the program passes the configuration itself; use one of them')
  }
  return validateFile(structuredClone(given), new Substitution(reader, problems), problems)
}
