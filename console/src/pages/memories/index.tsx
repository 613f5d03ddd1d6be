import { Empty } from '../../components/states.js'

export default function MemoriesPage () {
  return <Empty title='This page is being made.' />
}
