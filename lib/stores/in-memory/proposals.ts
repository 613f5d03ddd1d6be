import { bankKeyString, type BankKey } from '../../access/context.js'
import { compareText } from '../../text/normal-form.js'
import type { Proposal, ProposalPage, ProposalState, ProposalStore } from '../proposals.js'
import type { Bank } from './bank.js'

/** Proposals by bank, in the order in which they were made. */
export class InMemoryProposals implements ProposalStore {
  readonly #banks = new Map<string, Proposal[]>()
  readonly #open: (key: BankKey, now: number) => Promise<Bank | undefined>

  /** @param open returns a bank as it is, if it has memories */
  constructor (open: (key: BankKey, now: number) => Promise<Bank | undefined>) {
    this.#open = open
  }

  async add (key: BankKey, proposals: readonly Proposal[]): Promise<void> {
    const id = bankKeyString(key)
    const known = this.#banks.get(id) ?? []
    for (const proposal of proposals) {
      const isKnown = known.some(({ memoryId, maySupersede }) => (
        memoryId === proposal.memoryId && maySupersede === proposal.maySupersede
      ))
      if (!isKnown) known.push(proposal)
    }
    this.#banks.set(id, known)
  }

  async list (key: BankKey, { state, now, limit, after }: ProposalPage): Promise<Proposal[]> {
    const bank = await this.#open(key, now)
    return this.#of(key, bank)
      .filter((proposal) => proposal.state === state && (after === undefined || proposal.proposalId < after))
      .filter(({ memoryId, maySupersede }) => state !== 'open' || [memoryId, maySupersede].every((id) => (
        bank?.byId.has(id)
      )))
      .sort((a, b) => compareText(b.proposalId, a.proposalId))
      .slice(0, limit)
  }

  async get (key: BankKey, proposalId: string, now: number): Promise<Proposal | undefined> {
    const bank = await this.#open(key, now)
    return this.#of(key, bank).find((proposal) => proposal.proposalId === proposalId)
  }

  async decide (
    key: BankKey, proposalId: string, from: ProposalState,
    decision: Pick<Proposal, 'state' | 'decidedAt' | 'decidedBy'>,
  ): Promise<boolean> {
    const proposals = this.#banks.get(bankKeyString(key)) ?? []
    const at = proposals.findIndex((proposal) => proposal.proposalId === proposalId && proposal.state === from)
    if (at === -1) return false
    proposals[at] = { ...proposals[at]!, ...decision }
    return true
  }

  /** Removes what is open about memories that say another thing now. */
  dropOpen (key: BankKey, memoryIds: readonly string[]): void {
    const id = bankKeyString(key)
    const kept = this.#banks.get(id)?.filter(({ state, memoryId, maySupersede }) => (
      state !== 'open' || !(memoryIds.includes(memoryId) || memoryIds.includes(maySupersede))
    ))
    if (kept !== undefined) this.#banks.set(id, kept)
  }

  remove (key: BankKey): void {
    this.#banks.delete(bankKeyString(key))
  }

  /** Those whose memories are there; the others are dropped. */
  #of (key: BankKey, bank: Bank | undefined): Proposal[] {
    const id = bankKeyString(key)
    const kept = (this.#banks.get(id) ?? []).filter(({ memoryId, maySupersede }) => (
      bank?.last(memoryId) !== undefined && bank.last(maySupersede) !== undefined
    ))
    if (kept.length === 0) this.#banks.delete(id)
    else this.#banks.set(id, kept)
    return kept
  }
}
