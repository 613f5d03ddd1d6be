import { stateChoiceOf, STATES, type StateChoice } from '../text/state-choice.js'

interface Props {
  value: StateChoice
  onChange: (state: StateChoice) => void
  /** The name of the choice that tells none; absent: `current` is that choice. */
  unset?: string
  id?: string
  class?: string
  'aria-label'?: string
  'aria-describedby'?: string
  'aria-invalid'?: boolean
}

/** The choice whether current memories, past ones, or both are shown. */
export function StateSelect ({ value, onChange, unset, ...attributes }: Props) {
  return (
    <select
      {...attributes} value={unset === undefined && value === '' ? 'current' : value}
      onChange={({ currentTarget }) => {
        const chosen = stateChoiceOf(currentTarget.value)
        onChange(unset === undefined && chosen === 'current' ? '' : chosen)
      }}
    >
      {unset !== undefined && <option value=''>{unset}</option>}
      {STATES.map(([state, label]) => <option key={state} value={state}>{label}</option>)}
    </select>
  )
}
