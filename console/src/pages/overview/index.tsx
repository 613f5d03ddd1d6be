import { AdminGate } from '../../components/admin-gate.js'
import { Health } from './health.js'
import { History } from './history.js'
import { InUse } from './in-use.js'
import { Server } from './server.js'
import './overview.css'

export default function OverviewPage () {
  return (
    <>
      <div class='cards'>
        <Health />
        <Server />
      </div>
      <AdminGate what='What this server runs with (its store and its models, and the requests of the last hour)'>
        <InUse />
        <section aria-labelledby='history'>
          <h2 id='history' class='section-title'>The last hour</h2>
          <History />
        </section>
      </AdminGate>
    </>
  )
}
