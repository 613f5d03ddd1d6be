import { Fragment } from 'preact'
import { Loadable } from '../../components/states.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { usePoll } from '../../state/use-poll.js'
import { formatMilliseconds } from '../../text/format.js'
import { StatusBadge } from './status-badge.js'

const POLL_MS = 10_000

const NAMES: Readonly<Record<string, string>> = {
  vector_store: 'Vector store',
  embedding: 'Embedding model',
  language_model: 'Language model',
  reranker: 'Reranker',
  auth: 'Authentication',
}

/** The health of the server and of the services that it depends on. */
export function Health () {
  const health = useLoad(async (signal) => await client.value.health({ signal }), [])
  usePoll(health, POLL_MS)
  return (
    <section class='card' aria-labelledby='health'>
      <h2 id='health'>Health</h2>
      <Loadable loaded={health} label='Checking'>
        {({ checks }) => (
          <dl class='facts'>
            {Object.entries(checks).map(([name, check]) => (
              <Fragment key={name}>
                <dt>{NAMES[name] ?? name}</dt>
                <dd>
                  <StatusBadge status={check.status} />
                  {'latency_ms' in check && ` within ${formatMilliseconds(check.latency_ms)}`}
                  {'missing' in check && `: ${check.missing.join(', ')}`}
                </dd>
              </Fragment>
            ))}
          </dl>
        )}
      </Loadable>
    </section>
  )
}
