import type { Memory, MemoryNeighbours } from 'memory-gateway-client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { CopyButton } from '../../components/copy-button.js'
import type { Permission } from '../../components/permission.js'
import { SafeText } from '../../components/safe-text.js'
import { Said } from '../../components/said.js'
import { StateBadge } from '../../components/state-badge.js'
import { Loadable } from '../../components/states.js'
import { Time } from '../../components/time.js'
import { hrefOf } from '../../state/router.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { MemoryChanges } from './memory-changes.js'
import { TrustBadge } from './memory-list.js'
import { Versions } from './versions.js'

const INITIAL_NEIGHBOURS = 5
const MAX_NEIGHBOURS = 50

interface Props {
  bank: string
  id: string
  /** Increases each time the user chooses the memory, which moves the focus to it. */
  focusRequests: number
  isGranted: (permission: Permission) => boolean
  onForget: (memory: Memory) => void
  /** The memory is another one now, or in another state. */
  onChanged: () => void
  onClose: () => void
}

/** One memory, with its neighbours in the same document. */
export function MemoryView ({ bank, id, focusRequests, isGranted, onForget, onChanged, onClose }: Props) {
  const [limits, setLimits] = useState({ before: INITIAL_NEIGHBOURS, after: INITIAL_NEIGHBOURS })
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => { if (focusRequests > 0) heading.current?.focus() }, [focusRequests])
  const loaded = useLoad(async (signal) => (
    await client.value.getMemoryNeighbours({ bank_id: bank, memory_id: id, ...limits }, { signal })
  ), [bank, id, limits])
  return (
    <section
      class='card memories-view' aria-labelledby='memory'
      // A dialog within it has prevented the default of its Escape.
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented && !event.isComposing) onClose()
      }}
    >
      <div class='memories-head'>
        <h2 id='memory' ref={heading} tabIndex={-1}>One memory</h2>
        <button type='button' class='small' aria-label='Close the memory' onClick={onClose}>✕</button>
      </div>
      <Loadable loaded={loaded} label='Loading the memory'>
        {(answer) => (
          <>
            <Content memory={answer.memory} />
            <MemoryChanges
              bank={bank} memory={answer.memory} isGranted={isGranted} onReload={loaded.reload} onChanged={() => {
                loaded.reload()
                onChanged()
              }}
            >
              <button type='button' class='small danger' onClick={() => { onForget(answer.memory) }}>Forget…</button>
            </MemoryChanges>
            <div class='actions'>
              <CopyButton text={id} label='Copy id' subject='The id' />
              <CopyButton text={location.href} label='Copy link' subject='The link' />
              <a href={hrefOf('recall', { bank, why: id })}>Why is it (not) recalled?</a>
            </div>
            <Versions bank={bank} memory={answer.memory} isGranted={isGranted} />
            <Document
              answer={answer} bank={bank}
              more={(side) => { setLimits({ ...limits, [side]: MAX_NEIGHBOURS }) }} limits={limits}
            />
          </>
        )}
      </Loadable>
    </section>
  )
}

function Content ({ memory }: { memory: Memory }) {
  const {
    memory_id: id, bank_id: bank, text, tags, metadata, trust, source,
    occurred_at: occurred, retained_at: retained, expires_at: expires,
    key, valid_from: from, valid_until: until, supersedes = [], superseded_by: successor,
  } = memory
  const entries = Object.entries(metadata)
  return (
    <>
      <p class='memories-said'><Said memory={memory} /></p>
      <div
        class='memories-content'
        role='region'
        aria-label='Content'
        tabIndex={0}
      >
        <SafeText text={text} truncateAt={4000} />
      </div>
      <dl class='facts'>
        <dt>Id</dt><dd><code>{id}</code></dd>
        <dt>State</dt>
        <dd>{memory.state === 'current' ? 'current' : <StateBadge memory={memory} />}</dd>
        {successor !== undefined && (
          <><dt>Superseded by</dt><dd><MemoryLinks bank={bank} ids={[successor]} /></dd></>
        )}
        {supersedes.length > 0 && <><dt>Supersedes</dt><dd><MemoryLinks bank={bank} ids={supersedes} /></dd></>}
        {key !== undefined && <><dt>Key</dt><dd><code><SafeText text={key} /></code></dd></>}
        {from !== undefined && <><dt>Valid from</dt><dd><Time at={from} /></dd></>}
        {until !== undefined && <><dt>Valid until</dt><dd><Time at={until} /></dd></>}
        <dt>Occurred</dt><dd><Time at={occurred} /></dd>
        <dt>Retained</dt><dd><Time at={retained} /></dd>
        {expires !== null && <><dt>Expires</dt><dd><Time at={expires} /></dd></>}
        <dt>Trust</dt><dd>{trust === 'trusted' ? 'trusted' : <TrustBadge trust={trust} />}</dd>
        {source !== null && <><dt>Source</dt><dd><SafeText text={source} /></dd></>}
        <dt>Tags</dt>
        <dd>
          {tags.length === 0 && '–'}
          {tags.map((tag) => (
            <span key={tag}>
              <a class='tag' href={hrefOf('memories', { bank, tag })}>
                <SafeText text={tag} isExpandable={false} truncateAt={60} />
              </a>{' '}
            </span>
          ))}
        </dd>
        {entries.length > 0 && (
          <>
            <dt>Metadata</dt>
            <dd>
              <ul class='memories-metadata'>
                {entries.map(([name, value]) => (
                  <li key={name}>
                    <code><SafeText text={name} isExpandable={false} /></code>:{' '}
                    <SafeText text={JSON.stringify(value)} truncateAt={200} />
                  </li>
                ))}
              </ul>
            </dd>
          </>
        )}
      </dl>
    </>
  )
}

function MemoryLinks ({ bank, ids }: { bank: string, ids: readonly string[] }) {
  return (
    <>
      {ids.map((id) => (
        <span key={id}><a href={hrefOf('memories', { bank, memory: id })}><code>{id}</code></a> </span>
      ))}
    </>
  )
}

interface DocumentProps {
  answer: MemoryNeighbours
  bank: string
  more: (side: 'before' | 'after') => void
  limits: { before: number, after: number }
}

function Document ({ answer, bank, more, limits }: DocumentProps) {
  const { memory, before, after, more_before: hasBefore, more_after: hasAfter } = answer
  const { document_id: document } = memory
  if (document === null) return <p class='hint'>This memory belongs to no document.</p>
  if (memory.state !== 'current') {
    return <p class='hint'>What is past has no place in its document any more.</p>
  }
  const moreButton = (side: 'before' | 'after') => limits[side] < MAX_NEIGHBOURS
    ? <button type='button' class='small' onClick={() => { more(side) }}>Show more {side}</button>
    : (
      <p class='hint'>
        There are more {side}: open the {side === 'before' ? 'first' : 'last'} memory shown to see them.
      </p>
      )
  return (
    <section aria-labelledby='document'>
      <h3 id='document'>In its document</h3>
      <p>
        <a href={hrefOf('memories', { bank, document, order: 'oldest' })}>
          <SafeText text={document} isExpandable={false} truncateAt={120} />
        </a>
      </p>
      {hasBefore && moreButton('before')}
      <ol class='memories-document-list'>
        {[...before, memory, ...after].map((one) => (
          <li
            key={one.memory_id}
            class={one === memory ? 'open' : ''}
            {...(one === memory && { 'aria-current': 'true' as const })}
          >
            <p class='memories-facts'>
              <Said memory={one} /><TrustBadge trust={one.trust} />
              {one === memory
                ? 'this memory'
                : (
                  <a
                    href={hrefOf('memories', { bank, memory: one.memory_id })}
                    aria-label={`Open memory ${one.memory_id}`}
                  >
                    open
                  </a>
                  )}
            </p>
            <SafeText text={one.text} truncateAt={300} isExpandable={one !== memory} />
          </li>
        ))}
      </ol>
      {hasAfter && moreButton('after')}
    </section>
  )
}
