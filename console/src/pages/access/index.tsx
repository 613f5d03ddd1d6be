import { AdminGate } from '../../components/admin-gate.js'
import { currentBank } from '../../state/current-bank.js'
import { hrefOf, route } from '../../state/router.js'
import './access.css'
import { PrincipalPermissions } from './principal-permissions.js'
import { OwnPermissions } from './own-permissions.js'
import { Rules } from './rules.js'
import { PermissionCheck } from './permission-check.js'

const VIEWS = [['mine', 'You'], ['anyone', 'Anyone'], ['rules', 'Rules']] as const

export default function AccessPage () {
  const { params } = route.value
  // A link that names principals shows them.
  const requestedView = params.get('view') ?? (params.has('principal') ? 'anyone' : 'mine')
  const view = VIEWS.find(([name]) => name === requestedView)?.[0] ?? 'mine'
  return (
    <>
      <nav class='access-views' aria-label='Views of access'>
        {VIEWS.map(([name, title]) => (
          <a
            key={name}
            href={hrefOf('access', { bank: currentBank.value, view: name })}
            {...(name === view && { 'aria-current': 'page' as const })}
          >
            {title}
          </a>
        ))}
      </nav>
      {view === 'mine' && <OwnPermissions />}
      {view === 'anyone' &&
        <AdminGate feature='What others may do'><PrincipalPermissions /><PermissionCheck /></AdminGate>}
      {view === 'rules' && <AdminGate feature='The list of rules'><Rules /></AdminGate>}
    </>
  )
}
