import { AdminGate } from '../../components/admin-gate.js'
import { place } from '../../state/router.js'
import './admin.css'
import { AllBanks } from './banks.js'
import { BankConfiguration } from './configuration.js'
import { Metrics } from './metrics.js'
import { Reload } from './reload.js'

export default function AdminPage () {
  return <AdminGate what='This page'><Content /></AdminGate>
}

function Content () {
  const { params } = place.value
  const bank = params.get('bank') ?? ''
  const tenant = params.get('tenant')
  if (bank !== '') return <BankConfiguration key={JSON.stringify([tenant, bank])} bank={bank} tenant={tenant} />
  return (
    <>
      <div class='cards'><Reload /><Metrics /></div>
      <AllBanks />
    </>
  )
}
