import { AdminGate } from '../../components/admin-gate.js'
import { hrefOf, place } from '../../state/router.js'
import './access.css'
import { Anyone } from './anyone.js'
import { Mine } from './mine.js'
import { Rules } from './rules.js'
import { WhatIf } from './what-if.js'

const VIEWS = [['mine', 'You'], ['anyone', 'Anyone'], ['rules', 'Rules']] as const

export default function AccessPage () {
  const { params } = place.value
  // A link that names principals shows them.
  const asked = params.get('view') ?? (params.has('principal') ? 'anyone' : 'mine')
  const view = VIEWS.find(([name]) => name === asked)?.[0] ?? 'mine'
  return (
    <>
      <nav class='access-views' aria-label='Views of access'>
        {VIEWS.map(([name, title]) => (
          <a key={name} href={hrefOf('access', { view: name })} {...(name === view && { 'aria-current': 'page' as const })}>{title}</a>
        ))}
      </nav>
      {view === 'mine' && <Mine />}
      {view === 'anyone' && <AdminGate what='What others may do'><Anyone /><WhatIf /></AdminGate>}
      {view === 'rules' && <AdminGate what='The list of rules'><Rules /></AdminGate>}
    </>
  )
}
