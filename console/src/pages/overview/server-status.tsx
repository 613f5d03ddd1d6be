import type { AdminStatus } from 'memory-gateway-client'
import type { ComponentChildren } from 'preact'
import { SafeText } from '../../components/safe-text.js'
import { Loadable } from '../../components/states.js'
import { Time } from '../../components/time.js'
import { admin, adminToken } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { usePoll } from '../../state/use-poll.js'
import { formatCount, formatMilliseconds, formatNumber } from '../../text/format.js'
import { StatusBadge } from './status-badge.js'

type Store = AdminStatus['vector_store']

const POLL_MS = 10_000

/** What happens to memories in each built-in store when the gateway stops. */
const DURABILITY: Readonly<Record<string, string>> = {
  in_memory: 'memories are lost when the server stops',
  postgres: 'memories are kept in the database',
  pglite: 'memories are kept in a database of this process',
}

/** The built-in stand-ins for models, which are none. */
const STAND_INS = {
  embedding: 'mock: recall by words only, no model',
  languageModel: 'mock: quotes memories, no model',
} as const

/** The configuration that the server runs with, for operators. */
export function ServerStatus () {
  const status = useLoad(async (signal) => await admin.value.getStatus({ signal }), [adminToken.value])
  usePoll(status, POLL_MS)
  return (
    <section class='card' aria-labelledby='in-use'>
      <h2 id='in-use'>Store and models</h2>
      <Loadable loaded={status} label='Checking'>
        {({ started_at: startedAt, access_control: isAccessControlled, ...parts }) => (
          <dl class='facts'>
            <dt>Running since</dt><dd><Time at={startedAt} /></dd>
            <dt>Vector store</dt><dd><StoreFacts store={parts.vector_store} /></dd>
            <dt>Embeddings</dt>
            <dd>
              <Model {...parts.embedding} standIn={STAND_INS.embedding}>
                , {formatCount(parts.embedding.dimensions, 'dimension')}
              </Model>
            </dd>
            <dt>Language model</dt><dd><Model {...parts.language_model} standIn={STAND_INS.languageModel} /></dd>
            <dt>Reranker</dt><dd>{parts.reranker === undefined ? 'none' : <Model {...parts.reranker} />}</dd>
            <dt>Access control</dt><dd>{isAccessControlled ? 'on' : 'off: every caller may do everything'}</dd>
          </dl>
        )}
      </Loadable>
    </section>
  )
}

function StoreFacts ({ store }: { store: Store }) {
  const { provider, status, latency_ms: latency, connections, vectors_pending: pending } = store
  return (
    <>
      <ProviderName name={provider} /> <StatusBadge status={status} />
      {latency !== null && ` within ${formatMilliseconds(latency)}`}
      {DURABILITY[provider] !== undefined && <span class='overview-detail'>{DURABILITY[provider]}</span>}
      {connections !== undefined && (
        <span class='overview-detail'>
          connections: {formatNumber(connections.in_use)} of {formatNumber(connections.size)} in use,
          {' '}{formatCount(connections.waiting, 'caller')} waiting
        </span>
      )}
      {pending !== undefined && pending > 0 && (
        <span class='overview-detail'>{formatCount(pending, 'memory waits', 'memories wait')} for vectors</span>
      )}
    </>
  )
}

interface ModelProps {
  provider: string
  model: string | null
  status: AdminStatus['language_model']['status']
  /** What `mock` is called. */
  standIn?: string
  children?: ComponentChildren
}

function Model ({ provider, model, status, standIn, children }: ModelProps) {
  // The provider `auto` uses the stand-in if no model is installed.
  const isStandIn = provider === 'mock' || (provider === 'auto' && model === 'mock')
  if (isStandIn && standIn !== undefined) return <>{standIn}</>
  return (
    <>
      <ProviderName name={provider} />
      {model !== null && <> (<SafeText text={model} isExpandable={false} />)</>}{children}
      {' '}<StatusBadge status={status} />
    </>
  )
}

function ProviderName ({ name }: { name: string }) {
  return name === 'custom' ? <>custom class</> : <code>{name}</code>
}
