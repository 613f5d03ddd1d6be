import { Empty } from '../../components/states.js'

export default function AccessPage () {
  return <Empty title='This page is being made.' />
}
