import type { BankKey } from '../../access/context.js'
import type { Proposal, ProposalPage, ProposalState, ProposalStore } from '../proposals.js'
import { PROPOSAL_STATES } from '../proposals.js'
import type { Executor, Queries } from './executor.js'
import { liveAt } from './fragments.js'
import { bankParameters } from './rows.js'

interface ProposalRow {
  proposal_id: string
  memory_id: string
  may_supersede: string
  because: string
  created_at: number
  state: string
  decided_at: number | null
  decided_by: string | null
}

const COLUMNS = `p.proposal_id::text as proposal_id, p.memory_id::text as memory_id,
  p.may_supersede::text as may_supersede, p.because, p.created_at::float8 as created_at, p.state,
  p.decided_at::float8 as decided_at, p.decided_by`

/** Proposals in the table of that name. */
export class SqlProposals implements ProposalStore {
  readonly #executor: Executor
  readonly #schema: string

  constructor (executor: Executor, schema: string) {
    this.#executor = executor
    this.#schema = schema
  }

  async add (bank: BankKey, proposals: readonly Proposal[]): Promise<void> {
    if (proposals.length === 0) return
    const texts = (valueOf: (proposal: Proposal) => string | null) => proposals.map(valueOf)
    // The join also lets Citus send the statement to the bank's node.
    await this.#executor.query(`insert into ${this.#schema}.proposals (bank_key, proposal_id, memory_id, may_supersede,
  because, created_at, state, decided_at)
select m.bank_key, g.proposal_id, g.memory_id, g.may_supersede, g.because, g.created_at, g.state, g.decided_at
from unnest($2::text[]::uuid[], $3::text[]::uuid[], $4::text[]::uuid[], $5::text[], $6::text[]::bigint[], $7::text[],
  $8::text[]::bigint[]) as g(proposal_id, memory_id, may_supersede, because, created_at, state, decided_at)
join ${this.#schema}.memories m on m.bank_key = $1 and m.memory_id = g.memory_id
where m.bank_key = $1
on conflict (bank_key, memory_id, may_supersede) do nothing`, [
      ...bankParameters(bank), texts(({ proposalId }) => proposalId), texts(({ memoryId }) => memoryId),
      texts(({ maySupersede }) => maySupersede), texts(({ because }) => because),
      texts(({ createdAt }) => String(createdAt)), texts(({ state }) => state),
      texts(({ decidedAt }) => decidedAt === null ? null : String(decidedAt)),
    ])
  }

  async list (bank: BankKey, { state, now, limit, after }: ProposalPage): Promise<Proposal[]> {
    const rows = await this.#executor.read<ProposalRow>(`select ${COLUMNS} from ${this.#schema}.proposals p
where p.bank_key = $1 and p.state = $3 and ($5::text is null or p.proposal_id < $5::text::uuid)
  and ${['memory_id', 'may_supersede'].map((column) => this.#exists(column, state === 'open')).join(' and ')}
order by p.proposal_id desc limit $4::int`, [...bankParameters(bank), now, state, limit, after ?? null])
    return rows.map(toProposal)
  }

  async get (bank: BankKey, proposalId: string, now: number): Promise<Proposal | undefined> {
    const [row] = await this.#executor.read<ProposalRow>(`select ${COLUMNS} from ${this.#schema}.proposals p
where p.bank_key = $1 and p.proposal_id = $3::text::uuid
  and ${['memory_id', 'may_supersede'].map((column) => this.#exists(column, false)).join(' and ')}`,
    [...bankParameters(bank), now, proposalId])
    return row && toProposal(row)
  }

  async decide (
    bank: BankKey, proposalId: string, from: ProposalState,
    { state, decidedAt, decidedBy }: Pick<Proposal, 'state' | 'decidedAt' | 'decidedBy'>,
  ): Promise<boolean> {
    const rows = await this.#executor.query(`update ${this.#schema}.proposals p set state = $4,
  decided_at = $5::float8::bigint, decided_by = $6
where p.bank_key = $1 and p.proposal_id = $2::text::uuid and p.state = $3 returning p.proposal_id`,
    [...bankParameters(bank), proposalId, from, state, decidedAt, decidedBy])
    return rows.length > 0
  }

  /** A condition: the memory in the column is there, at $2. */
  #exists (column: string, isCurrent: boolean): string {
    const within = (suffix: string) => `exists (select 1 from ${this.#schema}.memories${suffix} m
    where m.bank_key = $1 and m.memory_id = p.${column} and ${liveAt('m', '$2::float8::bigint')})`
    return isCurrent ? within('') : `(${within('')} or ${within('_past')})`
  }
}

/** Removes what is open about memories that say another thing now. */
export async function dropOpenProposals (
  tx: Queries, schema: string, bank: BankKey, memoryIds: readonly string[],
): Promise<void> {
  await tx.query(`delete from ${schema}.proposals p where p.bank_key = $1 and p.state = 'open'
  and (p.memory_id = any($2::text[]::uuid[]) or p.may_supersede = any($2::text[]::uuid[]))`, [
    ...bankParameters(bank), memoryIds,
  ])
}

function toProposal (row: ProposalRow): Proposal {
  const state = PROPOSAL_STATES.find((each) => each === row.state)
  if (state === undefined) throw new Error(`A proposal has the unknown state ${row.state}`)
  return {
    proposalId: row.proposal_id,
    memoryId: row.memory_id,
    maySupersede: row.may_supersede,
    because: row.because,
    createdAt: row.created_at,
    state,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
  }
}
