import type { SourcesAnswer } from 'memory-gateway-client'
import { CopyButton } from '../../components/copy-button.js'
import { SafeText } from '../../components/safe-text.js'
import { EmptyState, Loadable } from '../../components/states.js'
import { Table } from '../../components/table.js'
import { Time } from '../../components/time.js'
import { hrefOf } from '../../state/router.js'
import { admin } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { usePoll } from '../../state/use-poll.js'
import { formatCount, formatNumber } from '../../text/format.js'
import { GATEWAY_URL } from '../../urls.js'

type Source = SourcesAnswer['sources'][number]

const POLL_MS = 10_000

/** The webhook sources, each with its state. */
export function SourceList () {
  const loaded = useLoad(async (signal) => await admin.value.listSources({ signal }), [])
  usePoll(loaded, POLL_MS)
  return (
    <Loadable loaded={loaded}>
      {({ sources }) => sources.length === 0
        ? (
          <EmptyState title='No source is configured.'>
            <p>A source takes webhooks and retains each event in a bank.</p>
            <p>Sources are configured under <code>sources</code> in the configuration file.</p>
          </EmptyState>
          )
        : <SourceTable sources={sources} reload={loaded.reload} />}
    </Loadable>
  )
}

function SourceTable ({ sources, reload }: { sources: readonly Source[], reload: () => void }) {
  const failing = sources.filter(({ healthy }) => !healthy).length
  return (
    <>
      <h2 class='visually-hidden'>Webhook sources</h2>
      <div class='sources-bar'>
        <p role='status'>
          {formatCount(sources.length, 'source')},{' '}
          {failing === 0 ? 'all healthy' : `${formatNumber(failing)} failing`}. Counts are since the start of the
          server.
        </p>
        <button type='button' onClick={reload}>Reload</button>
      </div>
      <Table
        caption='Webhook sources' rows={sources} keyOf={({ id }) => id} columns={[
          {
            title: 'Source',
            isHeader: true,
            cell: ({ id, type }) => (
              <><SafeText text={id} isExpandable={false} /> <span class='tag'>{type}</span></>
            ),
          },
          { title: 'Health', cell: (source) => <Health source={source} /> },
          { title: 'Last event', cell: ({ last_event_at: at }) => <Time at={at} /> },
          { title: 'Accepted', isNumber: true, cell: ({ accepted }) => formatNumber(accepted) },
          { title: 'Rejected', isNumber: true, cell: ({ rejected }) => formatNumber(rejected) },
          {
            title: 'Bank',
            cell: ({ target_bank: bank }) => (
              <a href={hrefOf('memories', { bank })}><SafeText text={bank} isExpandable={false} truncateAt={60} /></a>
            ),
          },
          { title: 'URL', cell: ({ id }) => <WebhookUrl id={id} /> },
        ]}
      />
    </>
  )
}

function Health ({ source: { healthy, message, last_event_at: lastEventAt } }: { source: Source }) {
  const [level, label] = !healthy
    ? ['danger', 'failing']
    : lastEventAt === null ? ['', 'no event yet'] : ['good', 'healthy']
  return (
    <>
      <span class={`badge ${level}`}>{label}</span>
      {!healthy && <div class='sources-message'><SafeText text={message} truncateAt={200} /></div>}
    </>
  )
}

/** The URL to which the sender posts its events. */
function WebhookUrl ({ id }: { id: string }) {
  const path = `v1/ingest/webhook/${encodeURIComponent(id)}`
  return (
    <>
      <code><SafeText text={`/${path}`} isExpandable={false} /></code>{' '}
      <CopyButton text={new URL(path, GATEWAY_URL).href} subject='The URL' />
    </>
  )
}
