import { AdminGate } from '../../components/admin-gate.js'
import './sources.css'
import { SourceList } from './list.js'

export default function SourcesPage () {
  return <AdminGate feature='The list of sources'><SourceList /></AdminGate>
}
