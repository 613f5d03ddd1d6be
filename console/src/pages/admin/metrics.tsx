import { CopyButton } from '../../components/copy-button.js'
import { GATEWAY_URL } from '../../urls.js'
import { serverConfig } from '../../state/server-config.js'

/** Where the metrics for Prometheus are. */
export function Metrics () {
  const { href } = new URL('metrics', GATEWAY_URL)
  const needsToken = serverConfig.value?.admin_token === true
  const command = needsToken ? `curl -s -H "X-Admin-Token: $SERVICE_ADMIN_TOKEN" ${href}` : `curl -s ${href}`
  return (
    <section class='card' aria-labelledby='metrics'>
      <h2 id='metrics'>Metrics</h2>
      <p>
        Metrics in the text format of Prometheus. If <code>SERVICES_METRICS_PORT</code> is set, the server has them on
        that port instead, without a token.
      </p>
      {needsToken
        ? <p>They require the admin token in a header, which a link cannot send.</p>
        : <p><a href={href} target='_blank' rel='noreferrer'>Open the metrics</a> (in a new tab)</p>}
      <p><code>{command}</code></p>
      <CopyButton text={command} subject='The command' />
    </section>
  )
}
