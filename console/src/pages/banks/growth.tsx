import { Chart } from '../../components/chart.js'
import { Loadable } from '../../components/states.js'
import { changeParams, route } from '../../state/router.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { formatCount, formatNumber } from '../../text/format.js'

const RANGES = [30, 90, 365]

/** The present memories, by the day on which they were retained. */
export function Growth ({ bank }: { bank: string }) {
  const chosen = Number(route.value.params.get('days'))
  const days = RANGES.find((range) => range === chosen) ?? 30
  const growth = useLoad(
    async (signal) => await client.value.getBankGrowth({ bank_id: bank, days }, { signal }), [bank, days])
  return (
    <section class='card' aria-labelledby='growth'>
      <div class='banks-head'>
        <h3 id='growth'>Growth by day</h3>
        <select
          class='small' aria-label='Days' value={String(days)}
          onChange={({ currentTarget }) => { changeParams({ days: currentTarget.value }) }}
        >
          {RANGES.map((range) => <option key={range} value={String(range)}>{range} days</option>)}
        </select>
      </div>
      <Loadable loaded={growth}>
        {({ from, until, count_before: countBefore, days: entries }) => (
          <>
            <p>
              {formatCount(
                entries.reduce((sum, { memory_count: count }) => sum + count, 0), 'memory', 'memories',
              )} from {from} to {until} (days in UTC);
              {' '}{formatNumber(countBefore)} before. Forgotten memories are not counted.
            </p>
            <Chart
              title='Memories retained' labelTitle='Day (UTC)' kind='bars' format={formatNumber}
              labels={entries.map(({ day }) => day)}
              series={[{ name: 'memories', color: 1, values: entries.map(({ memory_count: count }) => count) }]}
            />
          </>
        )}
      </Loadable>
    </section>
  )
}
