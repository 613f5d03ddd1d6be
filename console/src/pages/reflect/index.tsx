import { Empty } from '../../components/states.js'

export default function ReflectPage () {
  return <Empty title='This page is being made.' />
}
