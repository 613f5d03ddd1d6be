import { useEffect, useState } from 'preact/hooks'
import { ErrorBoundary } from './components/error-boundary.js'
import { Frame } from './components/frame.js'
import { PageView } from './components/page-view.js'
import { Failure, Loading } from './components/states.js'
import { CallbackPage } from './pages/sign-in/callback.js'
import { SignInPage } from './pages/sign-in/index.js'
import { CALLBACK_PAGE } from './pages.js'
import { recoveries } from './state/connection.js'
import { place } from './state/router.js'
import { loadServerConfig, serverConfig } from './state/server-config.js'
import { credentials, isExpired, reader } from './state/session.js'

/** The console: the sign-in page first, then the page that the URL names. */
export function App () {
  const [error, setError] = useState<unknown>(undefined)
  const recovered = recoveries.value
  useEffect(() => {
    setError(undefined)
    // Loaded again after an outage or a refusal, because the server may have restarted with another auth mode.
    loadServerConfig().catch((reason: unknown) => { if (serverConfig.value === undefined) setError(reason) })
  }, [recovered, isExpired.value])
  return (
    <Frame>
      <ErrorBoundary>
        {error !== undefined
          ? <Failure error={error} />
          : serverConfig.value === undefined
            ? <Loading />
            : <Content />}
      </ErrorBoundary>
    </Frame>
  )
}

function Content () {
  if (place.value.page === CALLBACK_PAGE) return <CallbackPage />
  const isSignedIn = credentials.value !== undefined
  // After a token has expired, the hidden page keeps what was typed and chosen on it.
  return (
    <>
      {!isSignedIn && <SignInPage />}
      {(isSignedIn || isExpired.value) && <PageView key={reader.value} id={place.value.page} isHidden={!isSignedIn} />}
    </>
  )
}
