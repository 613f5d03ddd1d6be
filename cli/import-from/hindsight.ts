import {
  flatMetadata, objectsUnder, optionalInstant, optionalText, optionalTexts, requireText, type FoundMemory,
} from './shape.js'

/** Lists of facts: `GET …/memories/list` has `items`, a recall `results`. */
const LISTS = ['items', 'results', 'memories'] as const

/** Facts as Hindsight lists or recalls them, bare or in the answer of the call. */
export function * fromHindsight (document: unknown): Generator<FoundMemory> {
  for (const [place, fact] of objectsUnder(LISTS, document)) {
    const text = requireText(fact['text'], `${place}.text`)
    const type = optionalText(fact['fact_type'] ?? fact['type'], `${place}.fact_type`)
    const context = optionalText(fact['context'], `${place}.context`)
    const id = optionalText(fact['document_id'], `${place}.document_id`)
    const occurredAt = optionalInstant(fact['occurred_start'] ?? fact['date'], `${place}.occurred_start`)
    const retainedAt = optionalInstant(fact['mentioned_at'], `${place}.mentioned_at`)
    const tags = optionalTexts(fact['tags'], `${place}.tags`)
    yield {
      place,
      text,
      source: 'hindsight',
      metadata: {
        ...flatMetadata(fact['metadata'], `${place}.metadata`),
        fact_type: type,
        context: context === '' ? undefined : context,
      },
      document_id: id === '' ? undefined : id,
      tags,
      occurred_at: occurredAt,
      retained_at: retainedAt,
    }
  }
}
