import { messageOf } from '../lib/errors/message-of.js'
import { CommandError } from './failures.js'
import type { ImportContent, ImportItem } from './import-lines.js'
import { isJsonObject } from '../lib/validation/json-object.js'

const FORMAT = 'memory-gateway-export'

/**
 * The header and the memories of an export of the gateway.
 * @throws CommandError when it does not begin with such a header
 */
export async function exportItems (lines: AsyncIterable<string>, name: string): Promise<ImportContent> {
  const items = numbered(lines)
  const first = await items.next()
  if (first.done === true) throw new CommandError(`${name} is empty`)
  checkHeader(first.value, name)
  return { header: first.value, items, withoutText: 0 }
}

/** The lines that are not blank, with their numbers. */
async function * numbered (lines: AsyncIterable<string>): AsyncGenerator<ImportItem, void> {
  let number = 0
  for await (const line of lines) {
    number++
    if (line.trim() !== '') yield { json: line, place: `line ${number}` }
  }
}

function checkHeader ({ json, place }: ImportItem, name: string): void {
  const header = parse(json, `${name}: ${place}`)
  if (!isJsonObject(header) || header['format'] !== FORMAT) {
    throw new CommandError(`${name}: ${place} is not the header of an export ({"format":"${FORMAT}",…})`)
  }
}

function parse (json: string, place: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw new CommandError(`${place} is not JSON: ${messageOf(error)}`)
  }
}
