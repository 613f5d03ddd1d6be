import { NoBank } from '../../components/bank-choice.js'
import { currentBank } from '../../state/current-bank.js'
import { isBankId } from '../../text/bank-id.js'
import '../memories/memories.css'
import { ProposalList } from './list.js'

export default function ProposalsPage () {
  const bank = currentBank.value
  return isBankId(bank) ? <ProposalList key={bank} bank={bank} /> : <NoBank />
}
