import { SafeText } from '../../components/safe-text.js'
import { Empty, Loadable } from '../../components/states.js'
import { Table } from '../../components/table.js'
import { Time } from '../../components/time.js'
import { firstPage } from '../../state/first-page.js'
import { hrefOf } from '../../state/router.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { formatNumber } from '../../text/format.js'

export default function BanksPage () {
  const banks = useLoad(async (signal) => await firstPage(client.value.listBanks({ limit: 200 }, { signal })), [])
  return (
    <Loadable loaded={banks}>
      {({ banks: rows }) => rows.length === 0
        ? <Empty title='There is no bank that you may read yet.'><p>A bank comes to life with its first memory.</p></Empty>
        : (
          <Table
            caption='Banks' rows={rows} keyOf={({ bank_id: id }) => id} columns={[
              { title: 'Bank', isHeader: true, cell: ({ bank_id: id }) => <a href={hrefOf('memories', { bank: id })}><SafeText text={id} isExpandable={false} /></a> },
              { title: 'Memories', isNumber: true, cell: ({ memory_count: count }) => formatNumber(count) },
              { title: 'Last retained', cell: ({ last_retained_at: at }) => <Time at={at} /> },
            ]}
          />
          )}
    </Loadable>
  )
}
