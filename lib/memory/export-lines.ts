import { turns } from '../concurrency/turn-budget.js'
import type { Memory } from '../stores/vector-store.js'
import { toRecord } from './records.js'

/** The lines of an export, with line feeds: the header, followed by a line for each memory. */
export async function * exportLines (
  bankId: string, header: object, memories: AsyncIterable<Memory>, caller: string,
): AsyncGenerator<string> {
  yield `${JSON.stringify(header)}\n`
  for await (const memory of memories) {
    if (turns.isExhausted) await turns.next(caller)
    yield `${JSON.stringify(toRecord(bankId, memory))}\n`
  }
}
