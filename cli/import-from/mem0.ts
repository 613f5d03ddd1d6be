import {
  flatMetadata, objectsUnder, optionalExpiry, optionalInstant, optionalText, optionalTexts, requireText, speakerIn,
  type FoundMemory,
} from './shape.js'

/** The owner of a memory; Mem0 has these members beside the metadata. */
const OWNERS = ['user_id', 'agent_id', 'app_id', 'run_id'] as const

/** The result of `get_all()` of Mem0: a list of memories, bare or under `results`. */
export function * fromMem0 (document: unknown): Generator<FoundMemory> {
  for (const [place, memory] of objectsUnder(['results'], document)) {
    const text = requireText(memory['memory'], `${place}.memory`)
    const createdAt = optionalInstant(memory['created_at'], `${place}.created_at`)
    const expiresAt = optionalExpiry(memory['expiration_date'], `${place}.expiration_date`)
    const owners = OWNERS.flatMap((key) => {
      const value = optionalText(memory[key], `${place}.${key}`)
      return value === undefined ? [] : [[key, value] as const]
    })
    const tags = optionalTexts(memory['categories'], `${place}.categories`)
    const metadata = flatMetadata(memory['metadata'], `${place}.metadata`)
    // Of messages that were stored as they are, Mem0 knows the role, and the name where there is one.
    const names = [memory['actor_id'], memory['role']].map((name, index) => (
      optionalText(name, `${place}.${index === 0 ? 'actor_id' : 'role'}`)
    ))
    yield {
      place,
      text,
      source: 'mem0',
      speaker: speakerIn(names, metadata),
      document_id: requireText(memory['id'], `${place}.id`),
      metadata: { ...metadata, ...Object.fromEntries(owners) },
      tags,
      retained_at: createdAt,
      expires_at: expiresAt,
    }
  }
}
