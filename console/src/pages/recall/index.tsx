import { Empty } from '../../components/states.js'

export default function RecallPage () {
  return <Empty title='This page is being made.' />
}
