import { Loadable } from '../../components/states.js'
import { firstPage } from '../../state/first-page.js'
import { hrefOf } from '../../state/router.js'
import { serverConfig } from '../../state/server-config.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { formatCount } from '../../text/format.js'

const MODES: Readonly<Record<string, string>> = {
  dev: 'dev: every caller is believed',
  api_key: 'api_key: a shared key, and a principal',
  jwt_hs256: 'jwt_hs256: signed tokens',
  jwt_oidc: 'jwt_oidc: tokens of an identity provider',
}
/** Maximum entries of one page of the listing. */
const LISTED = 200

/** What the server reveals about itself without the admin token. */
export function Server () {
  const banks = useLoad(async (signal) => await firstPage(client.value.listBanks({ limit: LISTED }, { signal })), [])
  const config = serverConfig.value
  return (
    <section class='card' aria-labelledby='server'>
      <h2 id='server'>Server</h2>
      <dl class='facts'>
        <dt>Version</dt><dd>{config?.version}</dd>
        <dt>Authentication</dt><dd>{MODES[config?.auth_mode ?? ''] ?? config?.auth_mode}</dd>
        <dt>Admin routes</dt><dd>{config?.admin_token === true ? 'ask for the admin token' : 'open to everybody who reaches the server'}</dd>
      </dl>
      <h3>Yours</h3>
      <Loadable loaded={banks}>
        {({ banks: rows, next_cursor: next }) => (
          <p>
            You may read {next !== null && 'more than '}<a href={hrefOf('banks')}>{formatCount(rows.length, 'bank')}</a> with{' '}
            {next !== null && 'more than '}{formatCount(rows.reduce((sum, { memory_count: count }) => sum + count, 0), 'memory', 'memories')}.
          </p>
        )}
      </Loadable>
    </section>
  )
}
