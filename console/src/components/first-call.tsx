import { hrefOf } from '../state/router.js'
import { serverConfig } from '../state/server-config.js'
import { client } from '../state/session.js'
import { useLoad } from '../state/use-load.js'
import { firstCall, ownBankOf } from '../text/first-call.js'
import { GATEWAY_URL } from '../urls.js'
import { CopyButton } from './copy-button.js'
import { SafeText } from './safe-text.js'
import { Loadable } from './states.js'

/** Where a person gets the secret that the command has as a variable. */
const SECRETS: Readonly<Record<string, string>> = {
  api_key: 'Put the API key of this server in the place of $SERVICE_API_KEY.',
  jwt_hs256: 'Put your token in the place of $TOKEN.',
  jwt_oidc: 'Put your token in the place of $TOKEN.',
  host: 'Add the headers by which the app that this server is part of knows you.',
}

/**
 * In the place of memories when there are none: a command that stores the first one.
 * @param props.bank the bank that is empty; absent: the one that the caller would own
 */
export function FirstCall ({ title, bank }: { title: string, bank?: string }) {
  const identity = useLoad(async (signal) => await client.value.whoami({}, { signal }), [])
  const mode = serverConfig.value?.auth_mode ?? 'dev'
  return (
    <div class='first-call'>
      <p class='state-title'>{title}</p>
      <p>
        A bank comes into being with its first memory. Your agent stores memories with calls like this one, which you
        can try in a terminal:
      </p>
      <Loadable loaded={identity}>
        {({ principal }) => {
          const target = bank ?? ownBankOf(principal)
          const command = firstCall(GATEWAY_URL, target, { mode, principal })
          return (
            <>
              <pre tabIndex={0} role='region' aria-label='A first call'>{command}</pre>
              {SECRETS[mode] !== undefined && <p class='hint'>{SECRETS[mode]}</p>}
              <div class='actions'>
                <CopyButton text={command} label='Copy the call' subject='The call' />
                {bank === undefined && (
                  <a href={hrefOf('memories', { bank: target })}>
                    Then open <SafeText text={target} isExpandable={false} truncateAt={60} />
                  </a>
                )}
              </div>
            </>
          )
        }}
      </Loadable>
    </div>
  )
}
