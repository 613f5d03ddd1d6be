import type { Hit } from 'memory-gateway-client'
import type { ComponentChildren } from 'preact'
import { Said } from '../../components/said.js'
import { StateBadge } from '../../components/state-badge.js'
import { SafeText } from '../../components/safe-text.js'
import { hrefOf } from '../../state/router.js'
import { formatCount } from '../../text/format.js'
import { countCitations, type AnswerPart } from './citations.js'
import type { Highlighting } from './use-highlighting.js'
import type { Run } from './use-reflect.js'

const TRUST_BADGES: Readonly<Record<string, string>> = { untrusted: 'warning', suspect: 'danger' }

interface Props {
  /** In the order of the marks. */
  cited: readonly Hit[]
  others: readonly Hit[]
  parts: readonly AnswerPart[]
  phase: Run['phase']
  highlighting: Highlighting
}

/** The memories that the answer cites, in its order, and below them the others that were looked at. */
export function Sources ({ cited, others, parts, phase, highlighting }: Props) {
  const counts = countCitations(parts)
  return (
    <section class='card' aria-labelledby='reflect-sources'>
      <h2 id='reflect-sources'>Sources</h2>
      {cited.length + others.length === 0 && <p>No memory fits this question.</p>}
      {cited.length === 0 && others.length > 0 && phase === 'done' && <p>The answer cites none of them.</p>}
      {phase === 'answering' && <p class='hint'>When the answer is complete, what it cites stands here.</p>}
      {cited.length > 0 && (
        <ol class='reflect-sources' aria-label='Cited'>
          {cited.map((source, index) => (
            <CitedSource
              key={source.memory_id} number={index + 1} source={source} count={counts.get(index + 1) ?? 0}
              highlighting={highlighting}
            />
          ))}
        </ol>
      )}
      {others.length > 0 && (
        <details class='reflect-others'>
          <summary>{othersTitle(others.length, cited.length > 0)}</summary>
          <ul class='reflect-sources' aria-label='Looked at, not cited'>
            {others.map((source) => (
              <li key={source.memory_id} class='reflect-source'><SourceContent source={source} /></li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

function othersTitle (count: number, hasCited: boolean): string {
  const memories = hasCited
    ? formatCount(count, 'more memory', 'more memories')
    : formatCount(count, 'memory', 'memories')
  return `${memories} ${count === 1 ? 'was' : 'were'} looked at`
}

function CitedSource (
  { number, source, count, highlighting }: { number: number, source: Hit, count: number, highlighting: Highlighting },
) {
  const { onPointerEnter, onPointerLeave, onFocus, onBlur } = highlighting.handlersOf(number)
  return (
    <li
      class={highlighting.isHighlighted(number) ? 'reflect-source highlighted' : 'reflect-source'}
      onPointerEnter={onPointerEnter} onPointerLeave={onPointerLeave}
    >
      <SourceContent source={source} number={number}>
        <button
          type='button' class='reflect-citation' data-source={number}
          aria-label={`Source [${number}]: cited ${formatCount(count, 'time')}`}
          onFocus={onFocus} onBlur={onBlur} onClick={() => { highlighting.focusCitation(number) }}
        >
          {`[${number}]`}
        </button>
      </SourceContent>
    </li>
  )
}

/** @param props.children what stands before the speaker and the time */
function SourceContent (
  { source, number, children }: { source: Hit, number?: number, children?: ComponentChildren },
) {
  const { memory_id: id, bank_id: bank, trust, tags, text } = source
  return (
    <>
      <p class='reflect-source-head'>
        {children}
        <Said memory={source} />
        <StateBadge memory={source} />
        {trust !== 'trusted' && <span class={`badge ${TRUST_BADGES[trust] ?? ''}`}>{trust}</span>}
      </p>
      <p class='reflect-source-text'><SafeText text={text} truncateAt={500} /></p>
      <p class='reflect-source-foot'>
        <a
          href={hrefOf('memories', { bank, memory: id })}
          {...(number !== undefined && { 'aria-label': `open in ${bank}: source ${number}` })}
        >
          open in <SafeText text={bank} isExpandable={false} truncateAt={60} />
        </a>
        {tags.slice(0, 8).map((tag) => (
          <span key={tag} class='tag'><SafeText text={tag} isExpandable={false} truncateAt={40} /></span>
        ))}
      </p>
    </>
  )
}
