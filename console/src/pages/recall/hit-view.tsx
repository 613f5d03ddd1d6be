import type { Hit } from 'memory-gateway-client'
import { SafeText } from '../../components/safe-text.js'
import { Said } from '../../components/said.js'
import { StateBadge } from '../../components/state-badge.js'
import { Table } from '../../components/table.js'
import { hrefOf } from '../../state/router.js'
import { scorePartInWords } from '../../text/search-words.js'
import type { RankChange } from './rank-changes.js'
import { contributionsOf, type Extent } from './contributions.js'
import { formatContribution, StackedBar } from './stacked-bar.js'

const MAX_TAGS = 8

interface Props {
  hit: Hit
  rank: number
  names: readonly string[]
  extent: Extent
  /** Undefined when no other settings are compared. */
  change: RankChange | undefined
  showsBank: boolean
  onExplain: (() => void) | undefined
}

/** A hit, with the contribution of each strategy and scorer. */
export function HitView ({ hit, rank, names, extent, change, showsBank, onExplain }: Props) {
  const { memory_id: id, bank_id: bank, text, tags, score, trust } = hit
  const contributions = contributionsOf(hit)
  return (
    <li class='recall-hit'>
      <p class='recall-hit-head'>
        <strong>{rank}.</strong>
        <Said memory={hit} />
        <span>score {score.toFixed(3)}</span>
        {change !== undefined && <RankChangeBadge change={change} />}
        <StateBadge memory={hit} />
        {trust !== 'trusted' && <span class={`badge ${trust === 'suspect' ? 'danger' : 'warning'}`}>{trust}</span>}
        {showsBank && <code><SafeText text={bank} isExpandable={false} /></code>}
        <a href={hrefOf('memories', { bank, memory: id })} aria-label={`Open hit ${rank}`}>open</a>
        {onExplain !== undefined && (
          <button type='button' class='as-link' aria-label={`Explain hit ${rank}`} onClick={onExplain}>explain</button>
        )}
      </p>
      <StackedBar contributions={contributions} names={names} extent={extent} />
      <div class='recall-text'><SafeText text={text} truncateAt={400} /></div>
      {tags.length > 0 && (
        <p class='recall-tags'>
          {tags.slice(0, MAX_TAGS).map((tag) => (
            <span key={tag} class='tag'><SafeText text={tag} isExpandable={false} truncateAt={40} /></span>
          ))}
          {tags.length > MAX_TAGS && ` and ${tags.length - MAX_TAGS} more`}
        </p>
      )}
      <details>
        <summary>What the score of hit {rank} is made of</summary>
        <ScoreTable hit={hit} rank={rank} />
      </details>
    </li>
  )
}

function ScoreTable ({ hit, rank }: { hit: Hit, rank: number }) {
  const { scores, score } = hit
  if (scores === undefined) return <p>The server returned no scores.</p>
  const contributions = contributionsOf(hit)
  // A strategy that found the memory is listed even if it contributed nothing.
  const names = [...new Set([
    ...(scores.lexical === undefined ? [] : ['lexical']), ...(scores.semantic === undefined ? [] : ['semantic']),
    ...contributions.map(({ name }) => name),
  ])]
  const rows = names.map((name) => {
    const ranking = name === 'lexical' || name === 'semantic' ? scores[name] : undefined
    const contribution = contributions.find((one) => one.name === name)?.value ?? 0
    return { name, contribution, rank: ranking?.rank, score: ranking?.score }
  })
  return (
    <>
      <Table
        caption={`Scores of hit ${rank}`} rows={rows} keyOf={({ name }) => name} columns={[
          { title: 'What counts', isHeader: true, cell: ({ name }) => scorePartInWords(name) },
          { title: 'Name in the API', cell: ({ name }) => <code>{name}</code> },
          { title: 'Adds', isNumber: true, cell: ({ contribution }) => formatContribution(contribution) },
          { title: 'Rank', isNumber: true, cell: (row) => row.rank ?? '–' },
          { title: 'Score', isNumber: true, cell: (row) => row.score?.toFixed(3) ?? '–' },
        ]}
      />
      <p class='hint'>
        {scores.sum !== undefined && `Sum ${formatContribution(scores.sum)}; `}score {score.toFixed(3)}
        {scores.rerank !== undefined &&
          `; reranker: rank ${scores.rerank.rank}, score ${scores.rerank.score.toFixed(3)}`}.
      </p>
    </>
  )
}

function RankChangeBadge ({ change }: { change: RankChange }) {
  if (change.kind === 'new') return <span class='badge good'>only here</span>
  if (change.kind === 'same') return <span class='badge'>same rank</span>
  const { kind, by, from } = change
  return (
    <span class={`badge ${kind === 'up' ? 'good' : 'warning'}`}>
      <span aria-hidden='true'>{kind === 'up' ? '▲' : '▼'}{by}</span>
      <span class='visually-hidden'>{kind === 'up' ? 'up' : 'down'} by {by}</span> from {from}
    </span>
  )
}
