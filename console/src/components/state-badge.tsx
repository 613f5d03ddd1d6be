import type { Memory } from 'memory-gateway-client'
import { Time } from './time.js'

/** A badge with the state of a memory that is not current, and until when it was so. */
export function StateBadge ({ memory }: { memory: Pick<Memory, 'state' | 'valid_until'> }) {
  const { state, valid_until: until } = memory
  if (state === 'current') return null
  return (
    <>
      <span class={state === 'retired' ? 'badge warning' : 'badge'}>{state}</span>{' '}
      {until !== undefined && <span>so until <Time at={until} /></span>}
    </>
  )
}
