import type { Memory } from 'memory-gateway-client'
import { SafeText } from './safe-text.js'
import { Time } from './time.js'
import './said.css'

/** Who said a memory, and when: what a reader needs before the text. */
export function Said ({ memory }: { memory: Pick<Memory, 'speaker' | 'occurred_at' | 'retained_at'> }) {
  const { speaker, occurred_at: occurredAt, retained_at: retainedAt } = memory
  return (
    <span class='said'>
      {speaker !== null && (
        <>
          <strong class='said-by'><SafeText text={speaker} isExpandable={false} truncateAt={60} /></strong>
          <span aria-hidden='true'>·</span>{' '}
        </>
      )}
      <span class='said-at'>{occurredAt === null && 'retained '}<Time at={occurredAt ?? retainedAt} /></span>
    </span>
  )
}
