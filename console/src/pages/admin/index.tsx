import { AdminGate } from '../../components/admin-gate.js'
import { route } from '../../state/router.js'
import './admin.css'
import { TenantBanks } from './banks.js'
import { BankConfiguration } from './bank-configuration.js'
import { Metrics } from './metrics.js'
import { ConfigurationFile } from './configuration-file.js'

export default function AdminPage () {
  return <AdminGate feature='This page'><Content /></AdminGate>
}

function Content () {
  const { params } = route.value
  const bank = params.get('bank') ?? ''
  const tenant = params.get('tenant')
  if (bank !== '') return <BankConfiguration key={JSON.stringify([tenant, bank])} bank={bank} tenant={tenant} />
  return (
    <>
      <div class='cards'><ConfigurationFile /><Metrics /></div>
      <TenantBanks />
    </>
  )
}
