import type { Hit } from 'memory-gateway-client'
import { SafeText } from '../../components/safe-text.js'
import { Time } from '../../components/time.js'
import { hrefOf } from '../../state/router.js'
import { formatCount } from '../../text/format.js'
import type { Highlighting } from './use-highlighting.js'

const TRUST_BADGES: Readonly<Record<string, string>> = { trusted: 'good', untrusted: 'warning', suspect: 'danger' }

interface Props {
  sources: readonly Hit[]
  /** How often each source is cited, by its number. */
  citationCounts: ReadonlyMap<number, number>
  highlighting: Highlighting
}

/** The evidence, in the order of the citation markers. */
export function Sources ({ sources, citationCounts, highlighting }: Props) {
  return (
    <section class='card' aria-labelledby='reflect-sources'>
      <h2 id='reflect-sources'>Sources</h2>
      {sources.length === 0
        ? <p>No memory is evidence for this question.</p>
        : (
          <ol class='reflect-sources'>
            {sources.map((source, index) => (
              <Source
                key={source.memory_id} number={index + 1} source={source} count={citationCounts.get(index + 1) ?? 0}
                highlighting={highlighting}
              />
            ))}
          </ol>
          )}
    </section>
  )
}

function Source (
  { number, source, count, highlighting }: { number: number, source: Hit, count: number, highlighting: Highlighting },
) {
  const { memory_id: id, bank_id: bank, trust, score, tags, text } = source
  const { occurred_at: occurredAt, retained_at: retainedAt } = source
  const name = `Source [${number}]: ${count === 0 ? 'not cited' : `cited ${formatCount(count, 'time')}`}`
  const { onPointerEnter, onPointerLeave, onFocus, onBlur } = highlighting.handlersOf(number)
  return (
    <li
      class={highlighting.isHighlighted(number) ? 'reflect-source highlighted' : 'reflect-source'}
      onPointerEnter={onPointerEnter} onPointerLeave={onPointerLeave}
    >
      <p class='reflect-source-head'>
        <button
          type='button' class='reflect-citation' data-source={number} aria-label={name}
          onFocus={onFocus} onBlur={onBlur} onClick={() => { highlighting.focusCitation(number) }}
        >
          {`[${number}]`}
        </button>
        <span class={`badge ${TRUST_BADGES[trust] ?? ''}`}>{trust}</span>
        <span>{count === 0 ? 'not cited' : `cited ${formatCount(count, 'time')}`}</span>
        <span>score {score.toFixed(3)}</span>
      </p>
      <p class='reflect-source-text'><SafeText text={text} truncateAt={500} /></p>
      <p class='reflect-source-foot'>
        <a href={hrefOf('memories', { bank, memory: id })} aria-label={`${bank}: source ${number} among its memories`}>
          <SafeText text={bank} isExpandable={false} truncateAt={60} />
        </a>
        <span>{occurredAt === null ? 'retained ' : ''}<Time at={occurredAt ?? retainedAt} /></span>
        {tags.slice(0, 8).map((tag) => (
          <span key={tag} class='tag'><SafeText text={tag} isExpandable={false} truncateAt={40} /></span>
        ))}
      </p>
    </li>
  )
}
