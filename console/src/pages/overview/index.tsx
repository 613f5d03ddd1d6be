import { Fragment } from 'preact'
import { Loadable } from '../../components/states.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { formatMilliseconds } from '../../text/format.js'

export default function OverviewPage () {
  const health = useLoad(async (signal) => await client.value.health({ signal }), [])
  return (
    <section class='card' aria-labelledby='health'>
      <h2 id='health'>Health</h2>
      <Loadable loaded={health} what='Asking'>
        {({ status, checks }) => (
          <dl class='facts'>
            <dt>Server</dt><dd>{status}</dd>
            {Object.entries(checks).map(([name, check]) => (
              <Fragment key={name}><dt>{name}</dt><dd>{check.status}{'latency_ms' in check ? `, ${formatMilliseconds(check.latency_ms)}` : ''}</dd></Fragment>
            ))}
          </dl>
        )}
      </Loadable>
    </section>
  )
}
