import { useEffect, useState } from 'preact/hooks'
import { PageTitle } from '../../components/page-title.js'
import { Empty, Failure, Loading } from '../../components/states.js'
import { handOver } from '../../state/oidc-window.js'
import { SignInError, takePending, tokenOf } from '../../state/oidc.js'
import { follow, hrefOf, place } from '../../state/router.js'
import { serverConfig } from '../../state/server-config.js'
import { signIn } from '../../state/session.js'

/** Where the identity provider sends the reader back to. */
export function CallbackPage () {
  const [failed, setFailed] = useState<{ error: unknown, returnTo: string } | undefined>(undefined)
  const [isHandedOver, setIsHandedOver] = useState(false)
  useEffect(() => {
    const { params } = place.value
    // First of all, the code is removed from the URL and the history.
    history.replaceState(null, '', hrefOf('callback'))
    let returnTo = hrefOf('')
    const finish = async () => {
      const pending = takePending()
      const config = serverConfig.value?.oidc
      if (config === undefined) throw new SignInError('The server names no identity provider.')
      if (pending?.state !== params.get('state') && await handOver(params)) {
        setIsHandedOver(true)
        window.close()
        return
      }
      returnTo = pending?.returnTo ?? returnTo
      const token = await tokenOf(config, params, pending)
      await signIn({ token }, pending?.remember ?? false)
      follow(returnTo, true)
    }
    finish().catch((error: unknown) => { setFailed({ error, returnTo }) })
  }, [])
  return (
    <>
      <PageTitle title='Sign in' />
      {isHandedOver
        ? <Empty title='The sign-in goes on in the window that it was begun in.'><p>This one can be closed.</p></Empty>
        : failed === undefined
          ? <Loading what='Signing in' />
          : <Failure error={failed.error} retry={() => { follow(failed.returnTo, true) }} />}
    </>
  )
}
