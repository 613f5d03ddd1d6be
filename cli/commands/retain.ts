import { CommandError, usageError } from '../failures.js'
import type { Metadata } from '../option-values.js'
import { note, writeJson, writeLine } from '../output.js'
import { withServer, type ServerOptions } from '../server-command.js'
import { withoutUndefined } from '../../lib/base/members.js'

/** More than any gateway accepts; without a limit, an endless input would fill the memory of the process. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024

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
  const content = given === undefined || given === '-' ? await standardInput() : given
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

async function standardInput (): Promise<string> {
  if (process.stdin.isTTY) throw usageError('there is no text: give it as an argument, or on standard input')
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of process.stdin) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_INPUT_BYTES) throw new CommandError('standard input is too long for a memory (more than 64 MiB)')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw new CommandError('standard input is not valid UTF-8; convert it first, for example with iconv')
  }
}
