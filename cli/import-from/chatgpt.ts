import { type Answer } from '../answers.js'
import {
  optionalSeconds, optionalText, requireList, requireObject, requireText, type FoundMemory,
} from './shape.js'
import { isJsonObject } from '../../lib/base/json-object.js'

/** More messages than any real conversation has. */
const MAX_BRANCH = 100_000

/**
 * `conversations.json` of ChatGPT's data export: a list of conversations, each a tree of messages. Imports the text
 * messages of user and assistant from the branch that was displayed last.
 */
export function * fromChatGpt (document: unknown): Generator<FoundMemory> {
  for (const [index, item] of requireList(document, '').entries()) {
    const place = `[${index}]`
    const conversation = requireObject(item, place)
    const mapping = requireObject(conversation['mapping'], `${place}.mapping`)
    const id = optionalText(conversation['conversation_id'] ?? conversation['id'], `${place}.conversation_id`)
    const title = optionalText(conversation['title'], `${place}.title`)
    for (const key of branchOf(mapping, conversation['current_node'], place)) {
      const found = messageOf(mapping[key], `${place}.mapping[${JSON.stringify(key)}]`)
      if (found === undefined) continue
      yield {
        ...found,
        source: 'chatgpt',
        document_id: id,
        metadata: { title: title === '' ? undefined : title },
      }
    }
  }
}

/** The nodes from the root to the one displayed last; if none is marked, all nodes in the order of the file. */
function branchOf (mapping: Answer, current: unknown, place: string): string[] {
  let at = optionalText(current, `${place}.current_node`)
  if (at === undefined) return Object.keys(mapping)
  const keys: string[] = []
  // The limit also ends a cycle of parents.
  while (at !== undefined && keys.length < MAX_BRANCH) {
    const path: string = `${place}.mapping[${JSON.stringify(at)}]`
    const node = requireObject(mapping[at], path)
    keys.push(at)
    at = optionalText(node['parent'], `${path}.parent`)
  }
  return keys.reverse()
}

function messageOf (value: unknown, place: string): FoundMemory | undefined {
  const { message } = requireObject(value, place)
  if (message === null || message === undefined) return undefined
  const { author, content, create_time: time } = requireObject(message, `${place}.message`)
  const role = requireText(requireObject(author, `${place}.message.author`)['role'], `${place}.message.author.role`)
  if (role !== 'user' && role !== 'assistant') return undefined
  const { content_type: type, parts } = requireObject(content, `${place}.message.content`)
  // Executed code, browsed pages and the like are not statements of either side.
  if (type !== 'text' && type !== 'multimodal_text') return { place, text: '' }
  const text = requireList(parts, `${place}.message.content.parts`)
    .flatMap((part, index) => textsOf(part, `${place}.message.content.parts[${index}]`)).join('\n').trim()
  const occurredAt = optionalSeconds(time, `${place}.message.create_time`)
  return { place, text, speaker: role, occurred_at: occurredAt }
}

/** A text, the words of a voice message, or nothing of an image or a recording. */
function textsOf (part: unknown, place: string): string[] {
  if (!isJsonObject(part)) return [requireText(part, place)]
  return part['content_type'] === 'audio_transcription' ? [requireText(part['text'], `${place}.text`)] : []
}
