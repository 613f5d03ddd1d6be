import { route } from '../../state/router.js'
import './banks.css'
import { BankDetails } from './details.js'
import { BankList } from './list.js'

export default function BanksPage () {
  const bank = route.value.params.get('bank')
  return bank === null || bank === '' ? <BankList /> : <BankDetails key={bank} bank={bank} />
}
