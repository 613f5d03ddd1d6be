import { NoBank } from '../../components/bank-choice.js'
import { currentBank } from '../../state/current-bank.js'
import { isBankId } from '../../text/bank-id.js'
import { MemoryBrowser } from './memory-browser.js'
import './memories.css'

export default function MemoriesPage () {
  const bank = currentBank.value
  return isBankId(bank) ? <MemoryBrowser key={bank} bank={bank} /> : <NoBank />
}
