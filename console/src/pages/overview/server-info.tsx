import { FirstCall } from '../../components/first-call.js'
import { Loadable } from '../../components/states.js'
import { firstPage } from '../../state/first-page.js'
import { hrefOf } from '../../state/router.js'
import { serverConfig } from '../../state/server-config.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { formatCount } from '../../text/format.js'

const MODES: Readonly<Record<string, string>> = {
  dev: 'dev: callers name their principal without proof',
  api_key: 'api_key: a shared key, and a principal',
  jwt_hs256: 'jwt_hs256: signed tokens',
  jwt_oidc: 'jwt_oidc: tokens of an identity provider',
  host: 'by the app that the server is part of',
}
/** Maximum number of banks that are counted. */
const PAGE_SIZE = 200

/** The version and the access rules of the server, which need no admin token, and the banks of the user. */
export function ServerInfo () {
  const banks = useLoad(async (signal) => await firstPage(client.value.listBanks({ limit: PAGE_SIZE }, { signal })), [])
  const config = serverConfig.value
  return (
    <section class='card' aria-labelledby='server'>
      <h2 id='server'>Server</h2>
      <dl class='facts'>
        <dt>Version</dt><dd>{config?.version}</dd>
        <dt>Authentication</dt><dd>{MODES[config?.auth_mode ?? ''] ?? config?.auth_mode}</dd>
        <dt>Admin routes</dt>
        <dd>
          {config?.admin_token === true ? 'require the admin token' : 'open to everyone who can reach the server'}
        </dd>
      </dl>
      <h3>Your banks</h3>
      <Loadable loaded={banks}>
        {({ banks: rows, next_cursor: next }) => (
          <>
            <p>
              You may read {next !== null && 'more than '}
              <a href={hrefOf('banks')}>{formatCount(rows.length, 'bank')}</a> with {next !== null && 'more than '}
              {formatCount(rows.reduce((sum, { memory_count: count }) => sum + count, 0), 'memory', 'memories')}.
            </p>
            {rows.length === 0 && next === null && <FirstCall title='Store a first memory.' />}
          </>
        )}
      </Loadable>
    </section>
  )
}
