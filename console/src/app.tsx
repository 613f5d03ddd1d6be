import { useEffect, useState } from 'preact/hooks'
import { ErrorBoundary } from './components/error-boundary.js'
import { Layout } from './components/layout.js'
import { PageView } from './components/page-view.js'
import { Failure, Loading } from './components/states.js'
import { CallbackPage } from './pages/sign-in/callback.js'
import { SignInPage } from './pages/sign-in/index.js'
import { CALLBACK_PAGE } from './pages.js'
import { reconnections } from './state/connection.js'
import { route } from './state/router.js'
import { loadServerConfig, serverConfig } from './state/server-config.js'
import { credentials, isExpired, lastUser } from './state/session.js'

/** The console: the sign-in page first, then the page that the URL names. */
export function App () {
  const [error, setError] = useState<unknown>(undefined)
  const reconnectionCount = reconnections.value
  useEffect(() => {
    setError(undefined)
    // Loaded again after an outage or a refusal, because the server may have restarted with another auth mode.
    loadServerConfig().catch((reason: unknown) => { if (serverConfig.value === undefined) setError(reason) })
  }, [reconnectionCount, isExpired.value])
  return (
    <Layout>
      <ErrorBoundary>
        {error !== undefined
          ? <Failure error={error} />
          : serverConfig.value === undefined
            ? <Loading />
            : <Content />}
      </ErrorBoundary>
    </Layout>
  )
}

function Content () {
  if (route.value.page === CALLBACK_PAGE) return <CallbackPage />
  const isSignedIn = credentials.value !== undefined
  // After a token has expired, the hidden page keeps its input.
  return (
    <>
      {!isSignedIn && <SignInPage />}
      {(isSignedIn || isExpired.value) && (
        <PageView key={lastUser.value} id={route.value.page} isHidden={!isSignedIn} />
      )}
    </>
  )
}
