import { AdminGate } from '../../components/admin-gate.js'
import { Health } from './health.js'
import { History } from './history.js'
import { ServerStatus } from './server-status.js'
import { ServerInfo } from './server-info.js'
import './overview.css'

export default function OverviewPage () {
  return (
    <>
      <div class='cards'>
        <Health />
        <ServerInfo />
      </div>
      <AdminGate feature='The configuration of this server (its store, its models and the requests of the last hour)'>
        <ServerStatus />
        <section aria-labelledby='history'>
          <h2 id='history' class='section-title'>The last hour</h2>
          <History />
        </section>
      </AdminGate>
    </>
  )
}
