import type { ByteBudget, ByteReservation } from '../../lib/concurrency/byte-budget.js'

let callers = 0

/** Reserves all but some bytes, for as many callers as it takes, since one may not hold so much. */
export function reserveAllBut (budget: ByteBudget, left: number): Pick<ByteReservation, 'release'> {
  const reservations: ByteReservation[] = []
  while (budget.limit - budget.reservedBytes > left) {
    const free = budget.limit - budget.reservedBytes
    reservations.push(budget.reserve(Math.min(free - left, Math.floor(free * 0.75) || 1), `user:other-${callers++}`))
  }
  return { release: () => { for (const reservation of reservations) reservation.release() } }
}
