import type { Hit } from 'memory-gateway-client'
import { Said } from '../../components/said.js'
import { SafeText } from '../../components/safe-text.js'
import { hrefOf } from '../../state/router.js'
import { formatCount } from '../../text/format.js'
import { countCitations, type AnswerPart } from './citations.js'
import type { Highlighting } from './use-highlighting.js'

const TRUST_BADGES: Readonly<Record<string, string>> = { untrusted: 'warning', suspect: 'danger' }

interface Props {
  sources: readonly Hit[]
  parts: readonly AnswerPart[]
  isRunning: boolean
  highlighting: Highlighting
}

/** The memories that the answer cites, in its order, and below them the others that were looked at. */
export function Sources ({ sources, parts, isRunning, highlighting }: Props) {
  const counts = countCitations(parts)
  const cited = [...counts.keys()]
  const others = sources.map((_, index) => index + 1).filter((number) => !counts.has(number))
  const list = (numbers: readonly number[], label: string) => (
    <ol class='reflect-sources' aria-label={label}>
      {numbers.map((number) => {
        const source = sources[number - 1]
        return source !== undefined && (
          <Source
            key={source.memory_id} number={number} source={source} count={counts.get(number) ?? 0}
            highlighting={highlighting}
          />
        )
      })}
    </ol>
  )
  return (
    <section class='card' aria-labelledby='reflect-sources'>
      <h2 id='reflect-sources'>Sources</h2>
      {sources.length === 0 && <p>No memory fits this question.</p>}
      {sources.length > 0 && cited.length === 0 && !isRunning && <p>The answer stands on none of them.</p>}
      {cited.length > 0 && list(cited, 'Cited')}
      {others.length > 0 && (
        <details class='reflect-others'>
          <summary>{othersTitle(others.length, cited.length > 0, isRunning)}</summary>
          {list(others, 'Looked at, not cited')}
        </details>
      )}
    </section>
  )
}

function othersTitle (count: number, hasCited: boolean, isRunning: boolean): string {
  const memories = hasCited
    ? `${formatCount(count, 'more memory', 'more memories')}`
    : formatCount(count, 'memory', 'memories')
  if (isRunning) return `${memories} to look at`
  return `${memories} ${count === 1 ? 'was' : 'were'} looked at`
}

function Source (
  { number, source, count, highlighting }: { number: number, source: Hit, count: number, highlighting: Highlighting },
) {
  const { memory_id: id, bank_id: bank, trust, tags, text } = source
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
        <Said memory={source} />
        {trust !== 'trusted' && <span class={`badge ${TRUST_BADGES[trust] ?? ''}`}>{trust}</span>}
      </p>
      <p class='reflect-source-text'><SafeText text={text} truncateAt={500} /></p>
      <p class='reflect-source-foot'>
        <a href={hrefOf('memories', { bank, memory: id })} aria-label={`open in ${bank}: source ${number}`}>
          open in <SafeText text={bank} isExpandable={false} truncateAt={60} />
        </a>
        {tags.slice(0, 8).map((tag) => (
          <span key={tag} class='tag'><SafeText text={tag} isExpandable={false} truncateAt={40} /></span>
        ))}
      </p>
    </li>
  )
}
