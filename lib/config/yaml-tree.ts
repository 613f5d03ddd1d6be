import {
  isAlias, isMap, isNode, isScalar, isSeq, type Alias, type Document, type Node, type Pair, type YAMLMap, type YAMLSeq,
} from 'yaml'
import { formatPath, type Path } from './paths.js'
import { childOf, mayBeEmpty, type SchemaNode } from '../validation/schema-node.js'

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
