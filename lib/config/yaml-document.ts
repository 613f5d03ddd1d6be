import {
  LineCounter, parseDocument, type ErrorCode, isAlias, isMap, isNode, isScalar, isSeq, type Alias, type Document,
  type Node, type Pair, type YAMLMap, type YAMLSeq,
} from 'yaml'
import { type SchemaNode, childOf, mayBeEmpty } from '../validation/schema-node.js'
import { formatPath, type Path } from './problems.js'

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
export type OnText = (text: string, path: Path, schema: SchemaNode | undefined) => unknown

const ALIAS_LIMIT = 100

/**
 * Converts parsed nodes to plain values. Keys are texts as written (a bank may be called 007), all keys of a map are
 * own properties (`__proto__` too), and the expansion of aliases is bounded. The parser's own conversion does none of
 * this, and its warnings may contain secrets.
 */
export class TreeReader {
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
