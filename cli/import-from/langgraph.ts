import { type Answer } from '../answers.js'
import {
  flatMetadata, objectsUnder, optionalInstant, requireList, requireObject, requireText, UnknownShape, type FoundMemory,
} from './shape.js'
import { isJsonObject } from '../../lib/base/json-object.js'

/** Members of a value that hold its text, as the memory tools of LangChain write them. */
const TEXTS = ['content', 'text', 'memory', 'data'] as const

/** Items of a LangGraph store as `search` and `POST /store/items/search` return them, bare or under `items`. */
export function * fromLangGraph (document: unknown): Generator<FoundMemory> {
  for (const [place, item] of objectsUnder(['items'], document)) {
    const names = requireList(item['namespace'], `${place}.namespace`)
    const namespace = names.map((name, at) => requireText(name, `${place}.namespace[${at}]`))
    const key = requireText(item['key'], `${place}.key`)
    const { text, rest } = contentOf(requireObject(item['value'], `${place}.value`), `${place}.value`)
    const createdAt = optionalInstant(item['created_at'] ?? item['createdAt'], `${place}.created_at`)
    yield {
      place,
      text,
      source: 'langgraph',
      document_id: [...namespace, key].join('/'),
      metadata: { ...flatMetadata(rest, `${place}.value`), namespace: namespace.join('/') },
      retained_at: createdAt,
    }
  }
}

/** A value may have any form: its text if it has one, else its JSON. */
function contentOf (value: Answer, place: string): { text: string, rest: Answer } {
  // LangMem wraps a structured memory: {kind, content: {…}}.
  const inner = isJsonObject(value['content']) ? value['content'] : value
  const name = TEXTS.find((candidate) => typeof inner[candidate] === 'string')
  if (name !== undefined) {
    const { [name]: text, ...rest } = inner
    return { text: requireText(text, `${place}.${name}`), rest }
  }
  if (Object.keys(inner).length === 0) throw new UnknownShape(place, 'a non-empty value', undefined)
  return { text: JSON.stringify(inner), rest: {} }
}
