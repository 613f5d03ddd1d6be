import { AdminGate } from '../../components/admin-gate.js'
import { Health } from './health.js'
import { History } from './history.js'
import { Server } from './server.js'

export default function OverviewPage () {
  return (
    <>
      <div class='cards'>
        <Health />
        <Server />
      </div>
      <section aria-labelledby='history'>
        <h2 id='history' class='section-title'>The last hour</h2>
        <AdminGate what='The history of requests'><History /></AdminGate>
      </section>
    </>
  )
}
