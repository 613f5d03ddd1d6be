import { Field } from '../../components/field.js'
import { describeShown } from '../../text/format.js'

export interface BankFilterState {
  text: string
  onlyGranted: boolean
}

export const NO_FILTER: BankFilterState = { text: '', onlyGranted: false }

export function matchesFilter ({ text, onlyGranted }: BankFilterState, bank: string, grantedCount: number): boolean {
  return bank.toLowerCase().includes(text.trim().toLowerCase()) && (!onlyGranted || grantedCount > 0)
}

interface Props {
  filter: BankFilterState
  onChange: (filter: BankFilterState) => void
  hasMore: boolean
  shownCount: number
  /** What is shown and how much of it, in words. */
  shown: string
}

/** Chooses which banks of a matrix are shown. */
export function BankFilter ({ filter, onChange, hasMore, shownCount, shown }: Props) {
  return (
    <div class='access-bar'>
      <Field label='Bank contains' hint={hasMore ? 'Among the banks that are loaded.' : undefined}>
        {(attributes) => (
          <input
            {...attributes} type='search' autocomplete='off' spellcheck={false} value={filter.text}
            onInput={({ currentTarget }) => { onChange({ ...filter, text: currentTarget.value }) }}
          />
        )}
      </Field>
      <label class='check'>
        <input
          type='checkbox' checked={filter.onlyGranted}
          onChange={({ currentTarget }) => { onChange({ ...filter, onlyGranted: currentTarget.checked }) }}
        />
        Only where something is granted
      </label>
      <p role='status'>{describeShown(shownCount, shown, hasMore)}</p>
    </div>
  )
}
