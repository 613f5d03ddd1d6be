const STATUSES: Readonly<Record<string, [level: string, meaning: string]>> = {
  ok: ['good', 'answers'],
  unknown: ['', 'not called yet'],
  degraded: ['warning', 'its last call failed'],
  failing: ['danger', 'is considered down'],
  misconfigured: ['danger', 'a setting is missing'],
  unhealthy: ['danger', 'reports a fault'],
  failed: ['danger', 'cannot be checked'],
  timed_out: ['danger', 'did not answer in time'],
}

/** The state of a part of the server, by its name and in words. */
export function StatusBadge ({ status }: { status: string }) {
  const [level, meaning] = STATUSES[status] ?? ['', status]
  return <><span class={`badge ${level}`}>{status}</span> {meaning}</>
}
