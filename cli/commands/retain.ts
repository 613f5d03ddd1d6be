import type { Metadata } from '../option-values.js'
import { note, writeJson, writeLine } from '../output.js'
import { withServer, type ServerOptions } from '../server-command.js'
import { readText } from '../text-input.js'
import { withoutUndefined } from '../../lib/base/members.js'

interface RetainOptions extends ServerOptions {
  tag?: string[]
  metadata?: Metadata
  occurredAt?: string
  expiresAt?: string
  documentId?: string
  source?: string
  speaker?: string
  key?: string
  supersedes?: string[]
  validFrom?: string
  validUntil?: string
}

/** Writes the id of the memory. */
export async function retain (bank: string, given: string | undefined, options: RetainOptions): Promise<void> {
  const content = given === undefined || given === '-'
    ? (await readText('-', 'there is no text: give it as an argument, or on standard input')).text
    : given
  const { tag: tags, metadata, occurredAt, expiresAt, documentId, source, speaker, key, supersedes } = options
  await withServer(options, async (gateway, call) => {
    const answer = await gateway.retain({
      bank_id: bank,
      content,
      ...withoutUndefined({
        tags,
        metadata,
        occurred_at: occurredAt,
        expires_at: expiresAt,
        document_id: documentId,
        source,
        speaker,
        key,
        supersedes,
        valid_from: options.validFrom,
        valid_until: options.validUntil,
      }),
    }, call)
    if (options.json === true) return await writeJson(answer)
    if (answer.deduplicated) note('this memory is already stored')
    await writeLine(answer.memory_id ?? '')
  })
}
