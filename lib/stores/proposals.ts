import type { BankKey } from '../access/context.js'

/** What became of a proposal. accepted: the older memory was superseded by the newer one. */
export const PROPOSAL_STATES = ['open', 'accepted', 'dismissed'] as const
export type ProposalState = typeof PROPOSAL_STATES[number]

/** That a memory may take the place of an older one. It has no text of either, so that a forget leaves none in it. */
export interface Proposal {
  /** UUIDv7. */
  readonly proposalId: string
  readonly memoryId: string
  readonly maySupersede: string
  /** The kind of the reason (lib/operations/contradictions.ts). */
  readonly because: string
  readonly createdAt: number
  readonly state: ProposalState
  readonly decidedAt: number | null
  /** The principal; null for an anonymous caller, or when the settings of the bank decided. */
  readonly decidedBy: string | null
}

export interface ProposalPage {
  readonly state: ProposalState
  readonly now: number
  readonly limit: number
  /** The last proposal of the previous page. */
  readonly after?: string | undefined
}

/**
 * A proposal is there as long as its two memories are; one that is open, as long as neither is given another text or
 * speaker by `revise`.
 */
export interface ProposalStore {
  /** Adds proposals; one for two memories that have one is left out. */
  add (bank: BankKey, proposals: readonly Proposal[]): Promise<void>
  /** Newest first; those that are open only while both memories are current. */
  list (bank: BankKey, page: ProposalPage): Promise<Proposal[]>
  get (bank: BankKey, proposalId: string, now: number): Promise<Proposal | undefined>
  /** @returns whether the proposal was in the state `from` */
  decide (
    bank: BankKey, proposalId: string, from: ProposalState,
    decision: Pick<Proposal, 'state' | 'decidedAt' | 'decidedBy'>,
  ): Promise<boolean>
}
