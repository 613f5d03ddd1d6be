import { CopyButton } from '../../components/copy-button.js'
import { GATEWAY_URL } from '../../mount.js'
import { serverConfig } from '../../state/server-config.js'

/** Where the metrics for Prometheus are. */
export function Metrics () {
  const { href } = new URL('metrics', GATEWAY_URL)
  const needsToken = serverConfig.value?.admin_token === true
  const command = needsToken ? `curl -s -H "X-Admin-Token: $SERVICE_ADMIN_TOKEN" ${href}` : `curl -s ${href}`
  return (
    <section class='card' aria-labelledby='metrics'>
      <h2 id='metrics'>Metrics</h2>
      <p>Figures in the text format of Prometheus, unless the configuration gives them a port of their own.</p>
      {needsToken
        ? <p>They ask for the admin token in a header, which a link cannot send.</p>
        : <p><a href={href} target='_blank' rel='noreferrer'>Open the metrics</a> (in a new tab)</p>}
      <p><code>{command}</code></p>
      <CopyButton text={command} what='The command' />
    </section>
  )
}
