import type { BankStatistics } from 'memory-gateway-client'
import { FirstCall } from '../../components/first-call.js'
import { SafeText } from '../../components/safe-text.js'
import { Loadable } from '../../components/states.js'
import { Time } from '../../components/time.js'
import { hrefOf } from '../../state/router.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { formatNumber } from '../../text/format.js'
import { Growth } from './growth.js'
import { Rollback } from './rollback.js'
import { BankSettings } from './settings.js'

/** The statistics of one bank. */
export function BankDetails ({ bank }: { bank: string }) {
  const statistics = useLoad(
    async (signal) => await client.value.getBankStatistics({ bank_id: bank }, { signal }), [bank])
  return (
    <>
      <p><a href={hrefOf('banks')}>All banks</a></p>
      <div class='banks-head'>
        <h2><SafeText text={bank} isExpandable={false} /></h2>
        <span class='banks-links'>
          <a href={hrefOf('memories', { bank })}>Memories</a>
          <a href={hrefOf('recall', { bank })}>Recall lab</a>
          <a href={hrefOf('reflect', { bank })}>Ask</a>
          <a href={hrefOf('access', { bank })}>Access</a>
        </span>
        <button type='button' class='small' onClick={statistics.reload}>Reload</button>
      </div>
      <Loadable loaded={statistics}>
        {(found) => found.memory_count === 0
          ? <FirstCall title='The bank is empty, or does not exist yet.' bank={bank} />
          : <Statistics bank={bank} statistics={found} />}
      </Loadable>
      <BankSettings bank={bank} />
      <Rollback bank={bank} onDone={statistics.reload} />
    </>
  )
}

function Statistics ({ bank, statistics }: { bank: string, statistics: BankStatistics }) {
  return (
    <>
      <div class='cards'>
        <section class='card' aria-labelledby='counts'>
          <h3 id='counts'>Counts</h3>
          <dl class='facts'>
            <dt>Memories</dt><dd>{formatNumber(statistics.memory_count)}</dd>
            <dt>Passages</dt><dd>{formatNumber(statistics.chunk_count)}</dd>
            <dt>Tokens</dt><dd>{formatNumber(statistics.token_count)}</dd>
            <dt>First retained</dt><dd><Time at={statistics.first_retained_at} /></dd>
            <dt>Last retained</dt><dd><Time at={statistics.last_retained_at} /></dd>
            <dt>Events from</dt><dd><Time at={statistics.first_occurred_at} /></dd>
            <dt>Events until</dt><dd><Time at={statistics.last_occurred_at} /></dd>
          </dl>
        </section>
        <Vectors statistics={statistics} />
        <Tags bank={bank} statistics={statistics} />
      </div>
      <Growth bank={bank} />
    </>
  )
}

/** How many memories recall can find by meaning. */
function Vectors ({ statistics }: { statistics: BankStatistics }) {
  const { memory_count: count, pending_embeddings: pending } = statistics
  if (pending === undefined) {
    return (
      <section class='card' aria-labelledby='vectors'>
        <h3 id='vectors'>Vectors</h3>
        <p>Memories are found by their words only: this server has no model that compares meanings.</p>
      </section>
    )
  }
  const share = (count - pending) / count
  return (
    <section class='card' aria-labelledby='vectors'>
      <h3 id='vectors'>Vectors</h3>
      <meter class='banks-coverage' min={0} max={1} value={share} aria-labelledby='coverage' />
      <p id='coverage'>{(share * 100).toLocaleString(
        undefined, { maximumFractionDigits: 1 },
      )} % of the memories have a vector of the model.
      </p>
      <p>
        {pending === 0
          ? 'No memory is waiting for one.'
          : `${formatNumber(pending)} are waiting for one; until then they are found by words.`}
      </p>
    </section>
  )
}

function Tags ({ bank, statistics: { tags } }: { bank: string, statistics: BankStatistics }) {
  return (
    <section class='card' aria-labelledby='tags'>
      <h3 id='tags'>Tags</h3>
      {tags.length === 0
        ? <p>No memory has a tag.</p>
        : (
          <ul class='banks-tags'>
            {tags.map(({ tag, memory_count: count }) => (
              <li key={tag}>
                <a
                  class='tag'
                  href={hrefOf('memories', { bank, tag })}
                >
                  <SafeText text={tag} isExpandable={false} truncateAt={60} />
                </a>{' '}
                <span class='banks-count'>{formatNumber(count)}</span>
              </li>
            ))}
          </ul>
          )}
      {tags.length === 100 && <p class='hint'>Only the 100 most frequent tags are listed.</p>}
    </section>
  )
}
