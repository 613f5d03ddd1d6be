import type { ComponentChildren } from 'preact'
import { MemoryGatewayError } from 'memory-gateway-client'
import { formatNumber } from '../text/format.js'
import { CopyButton } from './copy-button.js'
import { SafeText } from './safe-text.js'

/** Shown while something is loading. */
export function Loading ({ label = 'Loading' }: { label?: string }) {
  return <p class='state' role='status'><span class='spinner' aria-hidden='true' /> {label}…</p>
}

/** Shown in the place of missing content: says what would be here, and what to do. */
export function EmptyState ({ title, children }: { title: string, children?: ComponentChildren }) {
  return <div class='state'><p class='state-title'>{title}</p>{children}</div>
}

/** What a user can do about an error, by the error's code. */
const ADVICE: Readonly<Record<string, string>> = {
  access_denied: 'You are signed in, but not allowed to do this. The Access page shows what you may do.',
  connection_lost: 'The server cannot be reached. The page continues when the server answers again.',
  timed_out: 'The server did not answer in time.',
  rate_limited: 'There were too many requests.',
  dependency_unavailable: 'A service that the server depends on is down.',
}

interface FailureProps {
  error: unknown
  retry?: () => void
  isRetrying?: boolean
}

/** An error: its message, advice, its code and request id for copying, and a way to try again. */
export function Failure ({ error, retry, isRetrying = false }: FailureProps) {
  const { code, requestId, status, retryAfter, fields } = errorDetails(error)
  const message = error instanceof Error ? error.message : String(error)
  const facts = [['code', code], ['status', status], ['request id', requestId]].filter(([, value]) => (
    value !== undefined
  ))
  const problems = fields.map(({ field, message: text }) => field === '' ? text : `${field}: ${text}`)
  // The message of the server joins all problems in one sentence, which is unreadable when there are many.
  const isListed = problems.length > 1
  const details = [
    ...(isListed ? problems : [message]), ...facts.map(([name, value]) => `${name}: ${value}`),
  ].join('\n')
  return (
    <div class='failure' role='alert'>
      <p class='failure-message'><SafeText text={isListed
        ? `${formatNumber(problems.length)} values are not accepted`
        : message}
                                 />
      </p>
      {ADVICE[code] !== undefined && <p>{ADVICE[code]}</p>}
      {retryAfter !== undefined && <p>Try again in {formatNumber(Math.ceil(retryAfter))} seconds.</p>}
      {isListed && (
        <ul>
          {fields.map(({ field, message: text }, index) => (
            <li key={index}>{field !== '' && <><code><SafeText text={field} /></code>: </>}<SafeText text={text} /></li>
          ))}
        </ul>
      )}
      <dl class='failure-facts'>
        <dt>Code</dt><dd><code>{code}</code></dd>
        {requestId !== undefined && <><dt>Request id</dt><dd><code>{requestId}</code></dd></>}
      </dl>
      <div class='actions'>
        <CopyButton text={details} label='Copy details' subject='The description of the error' />
        {retry !== undefined && (
          <button type='button' class='small' onClick={retry} aria-disabled={isRetrying}>
            {isRetrying ? 'Trying again…' : 'Try again'}
          </button>
        )}
      </div>
    </div>
  )
}

interface ErrorDetails {
  code: string
  requestId: string | undefined
  status: number | undefined
  retryAfter: number | undefined
  fields: Array<{ field: string, message: string }>
}

function errorDetails (error: unknown): ErrorDetails {
  if (!(error instanceof MemoryGatewayError)) {
    return { code: 'console_error', requestId: undefined, status: undefined, retryAfter: undefined, fields: [] }
  }
  const { code, requestId, status, retryAfter, body } = error
  const fields = (body?.errors ?? []).map(({ field, message }) => ({ field: String(field), message: String(message) }))
  return { code, requestId, status, retryAfter, fields }
}

/** What stands below the loaded part of a listing: its failure, that more is being loaded, or the button that does. */
export function ListingEnd (
  { error, isLoading, hasMore, loadMore, retry = loadMore }: {
    error: unknown, isLoading: boolean, hasMore: boolean, loadMore: () => void, retry?: () => void,
  },
) {
  return (
    <>
      {error !== undefined && <Failure error={error} retry={retry} />}
      {isLoading && <Loading />}
      {hasMore && (
        <div class='actions'>
          <button type='button' aria-disabled={isLoading} onClick={loadMore}>Load more</button>
        </div>
      )}
    </>
  )
}

interface LoadState<T> { data: T | undefined, error: unknown, isLoading: boolean, reload: () => void }

/**
 * The states of data that `useLoad` loads. The content is shown as soon as there is any, and also below a later error.
 */
export function Loadable<T> (
  { loaded, label, children }: { loaded: LoadState<T>, label?: string, children: (data: T) => ComponentChildren },
) {
  const { data, error, isLoading, reload } = loaded
  return (
    <>
      {error !== undefined && <Failure error={error} retry={reload} isRetrying={isLoading} />}
      {data === undefined && error === undefined && isLoading && <Loading {...(label !== undefined && { label })} />}
      {data !== undefined && children(data)}
    </>
  )
}
