const CONDITIONS: Readonly<Record<string, [tone: string, meaning: string]>> = {
  ok: ['good', 'answers'],
  unknown: ['', 'not asked yet'],
  degraded: ['warning', 'its last call failed'],
  failing: ['danger', 'counts as down'],
  misconfigured: ['danger', 'a setting is missing'],
  unhealthy: ['danger', 'reports a fault'],
  failed: ['danger', 'cannot be asked'],
  timed_out: ['danger', 'did not answer in time'],
}

/** The state of a part of the server, by its name and in words. */
export function Condition ({ status }: { status: string }) {
  const [tone, meaning] = CONDITIONS[status] ?? ['', status]
  return <><span class={`badge ${tone}`}>{status}</span> {meaning}</>
}
