import { MemoryGatewayError, type ListProposalsRequest } from 'memory-gateway-client'
import { useRef, useState } from 'preact/hooks'
import { MissingPermission, usePermissions } from '../../components/permission.js'
import { EmptyState, Failure, ListingEnd } from '../../components/states.js'
import { announce } from '../../state/announcer.js'
import { firstPage } from '../../state/first-page.js'
import { changeParams, route } from '../../state/router.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { usePages } from '../../state/use-pages.js'
import { valueAt } from '../../text/value-at.js'
import { pairOf, ProposalRow, type Pair } from './proposal.js'

type ProposalState = NonNullable<ListProposalsRequest['state']>

const TITLES: Readonly<Record<ProposalState, string>> = {
  open: 'Open proposals', accepted: 'Accepted proposals', dismissed: 'Dismissed proposals',
}
const STATES = ['open', 'accepted', 'dismissed'] as const
/** The two memories of each proposal are read one by one. */
const PAGE_SIZE = 10

/** The proposals of a bank, the newest first. */
export function ProposalList ({ bank }: { bank: string }) {
  const asked = route.value.params.get('state')
  const state = STATES.find((name) => name === asked) ?? 'open'
  const heading = useRef<HTMLHeadingElement>(null)
  const isGranted = usePermissions(bank)
  const mayDecide = isGranted('write')
  const mode = useLoad(async (signal) => await modeOf(bank, signal), [bank])
  const { items, error, isLoading, hasMore, loadMore, reload } = usePages<Pair>(async (cursor, signal) => {
    const { proposals, next_cursor: next } = await firstPage(
      client.value.listProposals({ bank_id: bank, state, limit: PAGE_SIZE, cursor }, { signal }))
    return {
      items: await Promise.all(proposals.map(async (proposal) => await pairOf(bank, proposal, signal))), cursor: next,
    }
  }, [bank, state])
  const isEmpty = items.length === 0 && !hasMore && !isLoading && error === undefined
  if (error instanceof MemoryGatewayError && error.code === 'not_supported') {
    return <EmptyState title='The store of this server keeps no proposals.' />
  }
  return (
    <section aria-labelledby='proposals'>
      <div class='memories-head'>
        <h2 id='proposals' ref={heading} tabIndex={-1}>{TITLES[state]}</h2>
        <select
          class='small' aria-label='State' value={state}
          onChange={({ currentTarget: { value } }) => { changeParams({ state: value === 'open' ? null : value }) }}
        >
          {STATES.map((name) => <option key={name} value={name}>{name}</option>)}
        </select>
        <button type='button' class='small' onClick={reload}>Reload</button>
        {mode.data !== undefined && <ModeSwitch bank={bank} mode={mode.data} onChanged={mode.reload} />}
      </div>
      {/* Not while a retry of both is on its way: its failure would be shown a second time, for a moment. */}
      {mode.error !== undefined && error === undefined && !isLoading && !mode.isLoading && (
        <Failure error={mode.error} retry={mode.reload} />
      )}
      {items.length > 0 && state === 'open' && (
        <p>
          If you accept, the newer memory supersedes the older one, which stays in its history. If you dismiss, both
          stay as they are.
        </p>
      )}
      {items.length > 0 && !mayDecide && <MissingPermission permission='write' action='decide' />}
      <ul class='plain-list' aria-labelledby='proposals'>
        {items.map((pair) => (
          <ProposalRow
            key={pair.proposal.id} bank={bank} found={pair} mayDecide={mayDecide} onReload={() => {
              // The row of this button may go.
              heading.current?.focus()
              reload()
            }}
          />
        ))}
      </ul>
      {isEmpty && (state === 'open'
        ? !mode.isLoading && <NothingOpen mode={mode.data} />
        : <EmptyState title={`No proposal is ${state}.`} />)}
      <ListingEnd
        error={error} isLoading={isLoading} hasMore={hasMore} loadMore={loadMore} retry={() => {
          loadMore()
          if (mode.error !== undefined) mode.reload()
        }}
      />
    </section>
  )
}

type Mode = 'off' | 'propose'

/** Whether the bank has proposals. Undefined: only those who have `admin` on it may know. */
async function modeOf (bank: string, signal: AbortSignal): Promise<Mode | undefined> {
  const { permissions } = await client.value.whoami({ bank_id: bank }, { signal })
  if (permissions?.some(({ permission }) => permission === 'admin') === false) return undefined
  const { effective } = await client.value.getBankConfig({ bank_id: bank }, { signal })
  return valueAt(effective, 'signal_quality.proposals.mode') === 'propose' ? 'propose' : 'off'
}

function ModeSwitch ({ bank, mode, onChanged }: { bank: string, mode: Mode, onChanged: () => void }) {
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const [other, action] = mode === 'off' ? ['propose', 'on'] : ['off', 'off']
  const change = async () => {
    setIsBusy(true)
    setError(undefined)
    try {
      await client.value.patchBankConfig({
        bank_id: bank, patch: { signal_quality: { proposals: { mode: other } } },
      })
      announce(`Proposals are ${action}`)
      onChanged()
    } catch (failure) {
      setError(failure)
    }
    setIsBusy(false)
  }
  return (
    <>
      <button
        type='button' class='small' aria-disabled={isBusy}
        onClick={({ detail }) => { if (!isBusy && detail < 2) void change() }}
      >
        Turn proposals {action}
      </button>
      {error !== undefined && <Failure error={error} />}
    </>
  )
}

/** In the place of open proposals: what they are, and how a bank gets them. */
function NothingOpen ({ mode }: { mode: Mode | undefined }) {
  const setting = <code>signal_quality.proposals.mode</code>
  return (
    <EmptyState title={mode === 'off' ? 'Proposals are off for this bank.' : 'There is nothing to decide.'}>
      <p>
        Where a bank has proposals, each new memory is compared with those that it holds. If the new one says something
        else about the same, such as another place or number, or nearly the same again, it is proposed to take the place
        of the older one. Nothing changes until somebody accepts.
      </p>
      {mode === 'off' && (
        <p>
          “Turn proposals on” sets {setting} of the bank to <code>propose</code>. It holds for what is retained from
          then on.
        </p>
      )}
      {mode === undefined && (
        <p>
          A bank has proposals if its setting {setting} is <code>propose</code>, which those who have <code>admin</code>
          {' '}on the bank can turn on.
        </p>
      )}
    </EmptyState>
  )
}
