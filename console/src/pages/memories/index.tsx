import { BankField } from '../../components/bank-field.js'
import { EmptyState } from '../../components/states.js'
import { navigate, route } from '../../state/router.js'
import { MemoryBrowser } from './memory-browser.js'
import './memories.css'

export default function MemoriesPage () {
  const bank = route.value.params.get('bank') ?? ''
  return (
    <>
      <div class='memories-bank'>
        <BankField value={bank} onChange={(id) => { navigate('memories', { bank: id }) }} />
      </div>
      {bank === ''
        ? (
          <EmptyState title='Choose a bank.'>
            <p>Enter its id above; the suggestions are the banks that you may read.</p>
          </EmptyState>
          )
        : <MemoryBrowser key={bank} bank={bank} />}
    </>
  )
}
