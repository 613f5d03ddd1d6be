import { LineCounter, parseDocument, type ErrorCode } from 'yaml'
import { TreeReader, type OnText } from './yaml-tree.js'
import type { SchemaNode } from '../validation/schema-node.js'

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
