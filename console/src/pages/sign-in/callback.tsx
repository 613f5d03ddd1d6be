import { useEffect, useState } from 'preact/hooks'
import { PageTitle } from '../../components/page-title.js'
import { EmptyState, Failure, Loading } from '../../components/states.js'
import { relayResponse } from '../../state/oidc-popup.js'
import { SignInError, takePendingSignIn, exchangeCode } from '../../state/oidc.js'
import { navigateTo, hrefOf, route } from '../../state/router.js'
import { serverConfig } from '../../state/server-config.js'
import { signIn } from '../../state/session.js'

/** The page to which the identity provider redirects the user. */
export function CallbackPage () {
  const [failure, setFailure] = useState<{ error: unknown, returnTo: string } | undefined>(undefined)
  const [isRelayed, setIsRelayed] = useState(false)
  useEffect(() => {
    const { params } = route.value
    // Removes the authorization code from the URL and from the browser's history.
    history.replaceState(history.state, '', hrefOf('callback'))
    let returnTo = hrefOf('')
    const finishSignIn = async () => {
      const pending = takePendingSignIn()
      const config = serverConfig.value?.oidc
      if (config === undefined) throw new SignInError('The server has no identity provider configured.')
      if (pending?.state !== params.get('state') && await relayResponse(params)) {
        setIsRelayed(true)
        window.close()
        return
      }
      returnTo = pending?.returnTo ?? returnTo
      const token = await exchangeCode(config, params, pending)
      await signIn({ token }, pending?.remember ?? false)
      navigateTo(returnTo, true)
    }
    finishSignIn().catch((error: unknown) => { setFailure({ error, returnTo }) })
  }, [])
  return (
    <>
      <PageTitle title='Sign in' />
      {isRelayed
        ? (
          <EmptyState title='The sign-in continues in the window where it was started.'>
            <p>You can close this window.</p>
          </EmptyState>
          )
        : failure === undefined
          ? <Loading label='Signing in' />
          : <Failure error={failure.error} retry={() => { navigateTo(failure.returnTo, true) }} />}
    </>
  )
}
