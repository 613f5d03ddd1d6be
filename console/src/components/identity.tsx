import { client } from '../state/session.js'
import { useLoad } from '../state/use-load.js'
import { SafeText } from './safe-text.js'

/** The identity of the user as the server sees it. */
export function Identity () {
  const { data } = useLoad(async (signal) => await client.value.whoami({}, { signal }), [])
  if (data === undefined) return null
  return (
    <span class='identity'>
      <span class='visually-hidden'>Signed in as </span>
      {data.principal === null ? 'anonymous' : <SafeText text={data.principal} isExpandable={false} truncateAt={60} />}
      {data.tenant_id !== null && <> · <SafeText text={data.tenant_id} isExpandable={false} truncateAt={40} /></>}
    </span>
  )
}
