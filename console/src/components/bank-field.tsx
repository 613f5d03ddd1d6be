import { useId } from 'preact/hooks'
import { firstPage } from '../state/first-page.js'
import { client } from '../state/session.js'
import { useLoad } from '../state/use-load.js'
import { bankIdsIn, INVALID_BANK_ID, isBankId } from '../text/bank-id.js'
import { Field } from './field.js'
import { DraftInput } from './draft-input.js'

/** Maximum length of a useful list of suggestions. */
const MAX_SUGGESTIONS = 200

interface Props {
  value: string
  onChange: (bankId: string) => void
  label?: string
  /** Whether it may have several ids, separated by spaces or commas. */
  isList?: boolean
  /** An error that the value has for the form, beside that of an id which no bank can have. */
  error?: string | undefined
}

/** The id of a bank, with those that the caller may read as suggestions. */
export function BankField ({ value, onChange, label = 'Bank', isList = false, error }: Props) {
  const list = useId()
  const banks = useLoad(async (signal) => (
    await firstPage(client.value.listBanks({ limit: MAX_SUGGESTIONS }, { signal }))
  ), [])
  const isValid = isList ? bankIdsIn(value).every(isBankId) : value === '' || isBankId(value)
  return (
    <Field label={label} error={error ?? (isValid ? undefined : INVALID_BANK_ID)}>
      {(attributes) => (
        <>
          <DraftInput {...attributes} list={list} value={value} onChange={onChange} />
          <datalist id={list}>
            {(banks.data?.banks ?? []).map(({ bank_id: id }) => <option key={id} value={id} />)}
          </datalist>
        </>
      )}
    </Field>
  )
}
