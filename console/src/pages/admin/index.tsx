import { AdminGate } from '../../components/admin-gate.js'
import { Empty } from '../../components/states.js'

export default function AdminPage () {
  return <AdminGate what='This page'><Empty title='This page is being made.' /></AdminGate>
}
