import { textOf, type Answer } from '../answers.js'
import type { Call } from '../gateway.js'
import { note, writeJson, writeLine } from '../output.js'
import { withServer, type ServerOptions } from '../server-command.js'
// Imported by path, because the package of the gateway contains the built client and does not depend on its package.
import { MemoryGatewayError, type Memory, type MemoryGatewayClient } from '../../packages/client/src/index.js'
import { said } from './recall.js'

/** Proposals that one request lists. */
const PAGE = 200
const INDENT = ' '.repeat(10)

interface ListOptions extends ServerOptions {
  state: 'open' | 'accepted' | 'dismissed'
}

/** Writes each proposal with what both memories say, the newest first. */
export async function listProposals (bank: string, options: ListOptions): Promise<void> {
  const { state, json = false } = options
  await withServer(options, async (gateway, call) => {
    const found: Answer[] = []
    for await (const proposal of gateway.listProposals({ bank_id: bank, state, limit: PAGE }, call)) {
      const [newer, older] = await Promise.all([proposal.memory_id, proposal.may_supersede].map(async (id) => (
        await memoryOf(gateway, bank, id, call)
      )))
      const whole: Answer = { ...proposal, newer: newer ?? null, older: older ?? null }
      found.push(whole)
      if (!json) await writeLine(linesOf(whole, newer, older).join('\n'))
    }
    if (json) return await writeJson({ proposals: found })
    if (found.length > 0) return note(`${found.length} ${state}`)
    note(state === 'open'
      ? 'there is no open proposal; a bank makes them with signal_quality.proposals.mode: propose in its configuration'
      : `no proposal is ${state}`)
  })
}

/** @returns undefined for one that was forgotten meanwhile */
async function memoryOf (
  gateway: MemoryGatewayClient, bank: string, id: string, call: Call,
): Promise<Memory | undefined> {
  try {
    return await gateway.getMemory({ bank_id: bank, memory_id: id }, call)
  } catch (error) {
    if (error instanceof MemoryGatewayError && error.code === 'not_found') return undefined
    throw error
  }
}

function linesOf (proposal: Answer, newer: Answer | undefined, older: Answer | undefined): string[] {
  const text = (name: string) => textOf(proposal[name])
  const decided = text('decided_at')
  const decision = decided === undefined
    ? []
    : [`${text('state') ?? ''} ${decided}${proposal['decided_by'] === null ? '' : ` by ${text('decided_by') ?? ''}`}`]
  const line = (label: string, memory: Answer | undefined, id: string) => [
    `  ${label}  ${memory === undefined ? '(forgotten)' : said(memory).replaceAll('\n', `\n${INDENT}`)}`,
    `${INDENT}${text(id) ?? ''}`,
  ]
  return [
    [text('id') ?? '', text('because') ?? '', ...decision].join('  '),
    ...line('newer:', newer, 'memory_id'),
    ...line('older:', older, 'may_supersede'),
  ]
}

/** Writes the id of the proposal, and tells what became of its memories. */
export async function decideProposal (
  verb: 'accept' | 'dismiss' | 'undo', bank: string, id: string, options: ServerOptions,
): Promise<void> {
  await withServer(options, async (gateway, call) => {
    const request = { bank_id: bank, proposal_id: id }
    const decide = {
      accept: gateway.acceptProposal, dismiss: gateway.dismissProposal, undo: gateway.undoProposal,
    }[verb].bind(gateway)
    const proposal = await decide(request, call)
    if (options.json === true) return await writeJson(proposal)
    await writeLine(proposal.id)
    const { memory_id: newer, may_supersede: older } = proposal
    note({
      accept: `accepted: ${older} is superseded by ${newer}`,
      dismiss: 'dismissed: both memories stay as they are',
      undo: `open again: ${older} and ${newer} are both current`,
    }[verb])
  })
}
