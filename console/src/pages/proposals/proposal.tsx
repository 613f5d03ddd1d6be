import { MemoryGatewayError, type Memory, type Proposal } from 'memory-gateway-client'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { DiffText } from '../../components/diff-text.js'
import { SafeText } from '../../components/safe-text.js'
import { Said } from '../../components/said.js'
import { StateBadge } from '../../components/state-badge.js'
import { Failure } from '../../components/states.js'
import { Time } from '../../components/time.js'
import { announce } from '../../state/announcer.js'
import { hrefOf } from '../../state/router.js'
import { client } from '../../state/session.js'
import { firstCharacters } from '../../text/visible-text.js'
import { wordDiff, type DiffPart } from '../../text/word-diff.js'
import { TrustBadge } from '../memories/memory-list.js'

/** A proposal with its two memories; undefined: one that is no longer there. */
export interface Pair {
  proposal: Proposal
  older: Memory | undefined
  newer: Memory | undefined
}

/** As much of a text as the gateway compares. */
const MAX_COMPARED = 1000

const KINDS: ReadonlyMap<string, string> = new Map([
  ['same_key', 'Both have the same key'],
  ['value', 'Another answer to the same'],
  ['number', 'Another number, amount or date'],
  ['negation', 'One denies the other'],
  ['place', 'Another place'],
  ['near_duplicate', 'Nearly the same words'],
])

const DECISIONS = {
  accept: ['Accept', 'Accepted: the newer memory supersedes the older one'],
  dismiss: ['Dismiss', 'Dismissed: both memories stay'],
  undo: ['Undo', 'Undone: the proposal is open again'],
} as const
type Decision = keyof typeof DECISIONS

/** The proposal with its memories as they are now. */
export async function pairOf (bank: string, proposal: Proposal, signal?: AbortSignal): Promise<Pair> {
  const options = signal === undefined ? {} : { signal }
  const [older, newer] = await Promise.all([proposal.may_supersede, proposal.memory_id].map(async (id) => {
    try {
      return await client.value.getMemory({ bank_id: bank, memory_id: id }, options)
    } catch (error) {
      if (error instanceof MemoryGatewayError && error.code === 'not_found') return undefined
      throw error
    }
  }))
  return { proposal, older, newer }
}

interface Props {
  bank: string
  found: Pair
  mayDecide: boolean
  onReload: () => void
}

/** One proposal. After a decision it stays where it is, so that the decision can be undone. */
export function ProposalRow ({ bank, found, mayDecide, onReload }: Props) {
  const [pair, setPair] = useState(found)
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const [decisionCount, setDecisionCount] = useState(0)
  const actions = useRef<HTMLDivElement>(null)
  useEffect(() => {
    setPair(found)
    setError(undefined)
  }, [found])
  // The button that was used may be gone.
  useEffect(() => { if (decisionCount > 0) actions.current?.querySelector('button')?.focus() }, [decisionCount])
  const { proposal: { id, because, state }, older, newer } = pair
  const parts = useMemo(() => wordDiff(beginningOf(older), beginningOf(newer)), [older, newer])
  const decide = async (decision: Decision) => {
    setIsBusy(true)
    setError(undefined)
    try {
      const proposal = await send(decision, { bank_id: bank, proposal_id: id })
      announce(DECISIONS[decision][1])
      setPair(await pairOf(bank, proposal))
      setDecisionCount((count) => count + 1)
    } catch (failure) {
      setError(failure)
    }
    setIsBusy(false)
  }
  const offered: readonly Decision[] = state === 'open' ? ['accept', 'dismiss'] : ['undo']
  return (
    <li class='card'>
      <div class='memories-head'>
        <h3 class='memories-text'>{KINDS.get(because) ?? <SafeText text={because} isExpandable={false} />}</h3>
        <Course proposal={pair.proposal} />
      </div>
      <div class='cards'>
        <Side bank={bank} title='Older memory' memory={older} parts={parts.filter(({ kind }) => kind !== 'added')} />
        <Side bank={bank} title='Newer memory' memory={newer} parts={parts.filter(({ kind }) => kind !== 'removed')} />
      </div>
      {error !== undefined && <DecisionFailure error={error} onReload={onReload} />}
      {mayDecide && (
        <div class='actions' ref={actions}>
          {offered.map((decision) => (
            <button
              key={decision} type='button' class='small' aria-disabled={isBusy}
              // The second click of a double click would hit the button that has come in the place of the first one's.
              onClick={({ detail }) => { if (!isBusy && detail < 2) void decide(decision) }}
            >
              {DECISIONS[decision][0]}
            </button>
          ))}
        </div>
      )}
    </li>
  )
}

async function send (decision: Decision, request: { bank_id: string, proposal_id: string }): Promise<Proposal> {
  switch (decision) {
    case 'accept': return await client.value.acceptProposal(request)
    case 'dismiss': return await client.value.dismissProposal(request)
    case 'undo': return await client.value.undoProposal(request)
  }
}

function beginningOf (memory: Memory | undefined): string {
  return firstCharacters(memory?.text ?? '', MAX_COMPARED)
}

/** When it was proposed and decided, and by whom. */
function Course ({ proposal }: { proposal: Proposal }) {
  const { created_at: createdAt, state, decided_at: at, decided_by: by } = proposal
  return (
    <p class='memories-facts'>
      <span>proposed <Time at={createdAt} /></span>
      {state !== 'open' && (
        <>
          <span class={state === 'accepted' ? 'badge good' : 'badge'}>{state}</span>
          <span>
            <Time at={at} /> by {by === null
              ? 'the settings of the bank, or an anonymous caller'
              : <SafeText text={by} isExpandable={false} truncateAt={60} />}
          </span>
        </>
      )}
    </p>
  )
}

interface SideProps {
  bank: string
  title: string
  memory: Memory | undefined
  parts: readonly DiffPart[]
}

/** One of the two memories, with the words marked that the other does not have. */
function Side ({ bank, title, memory, parts }: SideProps) {
  return (
    <div role='group' aria-label={title}>
      <p class='memories-facts'><strong>{title}</strong></p>
      {memory === undefined
        ? <p class='hint'>It is no longer there.</p>
        : (
          <>
            <p class='memories-facts'>
              <Said memory={memory} /><StateBadge memory={memory} /><TrustBadge trust={memory.trust} />
              <a
                href={hrefOf('memories', { bank, memory: memory.memory_id })}
                aria-label={`Open the ${title.toLowerCase()}`}
              >
                open
              </a>
            </p>
            <p class='memories-text'><DiffText parts={parts} />{memory.text.length > MAX_COMPARED && '…'}</p>
          </>
          )}
    </div>
  )
}

/** Why nothing was decided. */
function DecisionFailure ({ error, onReload }: { error: unknown, onReload: () => void }) {
  const isOvertaken = error instanceof MemoryGatewayError && (error.status === 409 || error.status === 404)
  if (!isOvertaken) return <Failure error={error} />
  return (
    <div class='notice' role='alert'>
      <p>Somebody else has decided this, or one of the two memories has changed since this page was loaded.</p>
      <button type='button' class='small' onClick={onReload}>Load what stands now</button>
    </div>
  )
}
