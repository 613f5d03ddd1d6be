import { useEffect, useState } from 'preact/hooks'
import { PageTitle } from '../../components/page-title.js'
import { Failure, Loading } from '../../components/states.js'
import { finishSignIn, SignInError } from '../../state/oidc.js'
import { follow, hrefOf, place } from '../../state/router.js'
import { serverConfig } from '../../state/server-config.js'
import { signIn } from '../../state/session.js'

/** Where the identity provider sends the reader back to. */
export function CallbackPage () {
  const [error, setError] = useState<unknown>(undefined)
  useEffect(() => {
    const { params } = place.value
    // The code is out of the URL and the history before anything else.
    history.replaceState(null, '', hrefOf('callback'))
    const oidc = serverConfig.value?.oidc
    const work = oidc === undefined
      ? Promise.reject(new SignInError('The server names no identity provider.'))
      : finishSignIn(oidc, params)
    work.then(({ token, returnTo, remember }) => {
      signIn({ token }, remember)
      follow(returnTo, true)
    }, setError)
  }, [])
  return (
    <>
      <PageTitle title='Sign in' />
      {error === undefined ? <Loading what='Signing in' /> : <Failure error={error} retry={() => { follow(hrefOf(''), true) }} />}
    </>
  )
}
