import { BankField } from '../../components/bank-field.js'
import { Empty } from '../../components/states.js'
import { go, place } from '../../state/router.js'
import { Browser } from './browser.js'
import './memories.css'

export default function MemoriesPage () {
  const bank = place.value.params.get('bank') ?? ''
  return (
    <>
      <div class='memories-bank'>
        <BankField value={bank} onChange={(id) => { go('memories', { bank: id }) }} />
      </div>
      {bank === ''
        ? <Empty title='Which bank?'><p>Name one above; the suggestions are those that you may read.</p></Empty>
        : <Browser key={bank} bank={bank} />}
    </>
  )
}
