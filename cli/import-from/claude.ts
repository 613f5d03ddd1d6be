import { type Answer } from '../answers.js'
import {
  optionalInstant, optionalText, requireList, requireObject, requireText, UnknownShape, type FoundMemory,
} from './shape.js'
import { isJsonObject } from '../../lib/base/json-object.js'

/** The speaker by each sender. */
const SPEAKERS = new Map([['human', 'user'], ['assistant', 'assistant']])

/** `conversations.json` of Claude's data export: a list of conversations, each a list of messages. */
export function * fromClaude (document: unknown): Generator<FoundMemory> {
  for (const [index, item] of requireList(document, '').entries()) {
    const place = `[${index}]`
    const conversation = requireObject(item, place)
    const id = requireText(conversation['uuid'], `${place}.uuid`)
    const title = optionalText(conversation['name'], `${place}.name`)
    const messages = requireList(conversation['chat_messages'], `${place}.chat_messages`)
    for (const [at, value] of messages.entries()) {
      const path = `${place}.chat_messages[${at}]`
      const message = requireObject(value, path)
      const sender = requireText(message['sender'], `${path}.sender`)
      const speaker = SPEAKERS.get(sender)
      if (speaker === undefined) {
        const said = JSON.stringify(sender.slice(0, 40))
        throw new UnknownShape(`${path}.sender`, 'human or assistant', sender, said)
      }
      const text = textOf(message, path)
      const occurredAt = optionalInstant(message['created_at'], `${path}.created_at`)
      yield {
        place: path,
        text,
        source: 'claude',
        document_id: id,
        speaker,
        metadata: { title: title === '' ? undefined : title },
        occurred_at: occurredAt,
      }
    }
  }
}

/** The text blocks, without those of tools; older exports have a single text. */
function textOf (message: Answer, place: string): string {
  const { content } = message
  if (content === undefined || content === null) return requireText(message['text'], `${place}.text`).trim()
  const blocks = requireList(content, `${place}.content`).filter((block) => (
    isJsonObject(block) && block['type'] === 'text'
  ))
  const said = blocks.map((block, index) => (
    requireText(requireObject(block, `${place}.content`)['text'], `${place}.content[${index}].text`)
  )).join('\n').trim()
  return said === '' ? optionalText(message['text'], `${place}.text`)?.trim() ?? '' : said
}
