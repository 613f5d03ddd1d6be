import type { Hit } from 'memory-gateway-client'
import { SafeText } from '../../components/safe-text.js'
import { Table } from '../../components/table.js'
import { Time } from '../../components/time.js'
import { hrefOf } from '../../state/router.js'
import type { Move } from './compare.js'
import { partsOf, type Extent } from './parts.js'
import { formatPart, StackedBar } from './stacked-bar.js'

const MOST_TAGS = 8

interface Props {
  hit: Hit
  rank: number
  names: readonly string[]
  extent: Extent
  /** Absent where nothing is compared. */
  move: Move | undefined
  showsBank: boolean
  onWhy: (() => void) | undefined
}

/** A hit, with the contribution of each strategy and scorer. */
export function HitView ({ hit, rank, names, extent, move, showsBank, onWhy }: Props) {
  const { memory_id: id, bank_id: bank, text, tags, score, trust } = hit
  const parts = partsOf(hit)
  return (
    <li class='recall-hit'>
      <p class='recall-hit-head'>
        <strong>{rank}.</strong>
        <span title='Score'>{score.toFixed(3)}</span>
        {move !== undefined && <Moved move={move} />}
        {trust !== 'trusted' && <span class={`badge ${trust === 'suspect' ? 'danger' : 'warning'}`}>{trust}</span>}
        {showsBank && <code><SafeText text={bank} isExpandable={false} /></code>}
        <Time at={hit.occurred_at ?? hit.retained_at} />
        <a href={hrefOf('memories', { bank, memory: id })} aria-label={`Open hit ${rank}`}>open</a>
        {onWhy !== undefined && (
          <button type='button' class='as-link' aria-label={`Explain hit ${rank}`} onClick={onWhy}>explain</button>
        )}
      </p>
      <StackedBar parts={parts} names={names} extent={extent} />
      <div class='recall-text'><SafeText text={text} shown={400} /></div>
      {tags.length > 0 && (
        <p class='recall-tags'>
          {tags.slice(0, MOST_TAGS).map((tag) => (
            <span key={tag} class='tag'><SafeText text={tag} isExpandable={false} shown={40} /></span>
          ))}
          {tags.length > MOST_TAGS && ` and ${tags.length - MOST_TAGS} more`}
        </p>
      )}
      <details>
        <summary>Scores of hit {rank} as a table</summary>
        <ScoreTable hit={hit} rank={rank} />
      </details>
    </li>
  )
}

function ScoreTable ({ hit, rank }: { hit: Hit, rank: number }) {
  const { scores, score } = hit
  if (scores === undefined) return <p>The server gave no scores.</p>
  const of = { lexical: scores.lexical, semantic: scores.semantic }
  const parts = partsOf(hit)
  // A strategy that found the memory is listed even if it added nothing.
  const names = [...new Set([
    ...(scores.lexical === undefined ? [] : ['lexical']), ...(scores.semantic === undefined ? [] : ['semantic']),
    ...parts.map(({ name }) => name),
  ])]
  const rows = names.map((name) => {
    const own = name === 'lexical' || name === 'semantic' ? of[name] : undefined
    return { name, gave: parts.find((part) => part.name === name)?.value ?? 0, rank: own?.rank, score: own?.score }
  })
  return (
    <>
      <Table
        caption={`Scores of hit ${rank}`} rows={rows} keyOf={({ name }) => name} columns={[
          { title: 'Strategy or scorer', isHeader: true, cell: ({ name }) => name },
          { title: 'Gave', isNumber: true, cell: ({ gave }) => formatPart(gave) },
          { title: 'Own rank', isNumber: true, cell: (row) => row.rank ?? '–' },
          { title: 'Own score', isNumber: true, cell: (row) => row.score?.toFixed(3) ?? '–' },
        ]}
      />
      <p class='hint'>
        {scores.sum !== undefined && `Sum ${formatPart(scores.sum)}; `}score {score.toFixed(3)}
        {scores.rerank !== undefined && `; reranker: rank ${scores.rerank.rank}, score ${scores.rerank.score.toFixed(3)}`}.
      </p>
    </>
  )
}

function Moved ({ move }: { move: Move }) {
  if (move.kind === 'new') return <span class='badge good'>only here</span>
  if (move.kind === 'same') return <span class='badge'>same rank</span>
  const { kind, by, from } = move
  return (
    <span class={`badge ${kind === 'up' ? 'good' : 'warning'}`}>
      <span aria-hidden='true'>{kind === 'up' ? '▲' : '▼'}{by}</span>
      <span class='for-screen-readers'>{kind === 'up' ? 'up' : 'down'} by {by}</span> from {from}
    </span>
  )
}
