import { useEffect, useState } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { FormDialog, useUnsavedInput } from '../../components/form-dialog.js'
import { MissingPermission, type Permission } from '../../components/permission.js'
import { credentials } from '../../state/session.js'
import type { Metadata } from '../../text/metadata.js'
import { FilterFields } from './filter-fields.js'
import { countFilters, forgetFilters, NO_FILTERS, type Filters } from './filters.js'
import { ForgetDialog, type Selection } from './forget-dialog.js'
import type { Undo } from './undo.js'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const MAX_IDS = 1000

type Kind = 'shown' | 'filters' | 'ids' | 'all'

interface Props {
  bank: string
  isGranted: (permission: Permission) => boolean
  isOpen: boolean
  /** The filters of the list. */
  filters: Filters
  metadata: Metadata | undefined
  /** Whether the list shows the results of a search, which are only some of what the filters show. */
  isSearching: boolean
  onDone: (count: number, undo: Undo | undefined) => void
  onClose: () => void
}

/** Asks which memories to forget, and shows them for confirmation above the choice, to which Cancel leads back. */
export function ForgetSelectionDialog (props: Props) {
  const { bank, isGranted, isOpen, onDone, onClose } = props
  const [selection, setSelection] = useState<Selection | undefined>(undefined)
  const isUsable = isOpen && credentials.value !== undefined
  // A sign-in must not bring the preview back below the choice.
  useEffect(() => { if (!isUsable) setSelection(undefined) }, [isUsable])
  return (
    <>
      <FormDialog title='What is to be forgotten?' question='Discard this choice?' isOpen={isOpen} onClose={onClose}>
        {(close) => <Choice {...props} onChoose={setSelection} onClose={close} />}
      </FormDialog>
      <ForgetDialog
        bank={bank} isGranted={isGranted} selection={isUsable ? selection : undefined} onDone={onDone}
        onClose={() => { setSelection(undefined) }}
      />
    </>
  )
}

interface ChoiceProps extends Pick<Props, 'isGranted' | 'filters' | 'metadata' | 'isSearching' | 'onClose'> {
  onChoose: (selection: Selection) => void
}

function Choice ({ isGranted, filters: shown, metadata: shownMetadata, isSearching, onChoose, onClose }: ChoiceProps) {
  const shownCount = countFilters(shown, shownMetadata)
  const shownFilters = forgetFilters(shown, shownMetadata)
  const [kind, setKind] = useState<Kind>(shownFilters === undefined ? 'filters' : 'shown')
  const [filters, setFilters] = useState(NO_FILTERS)
  const [metadata, setMetadata] = useState<Metadata | undefined>(undefined)
  const [idsText, setIdsText] = useState('')
  useUnsavedInput(idsText.trim() !== '' || countFilters(filters, metadata) > 0)
  const ids = idsText.split(/[\s,]+/).filter((id) => id !== '')
  const invalidId = ids.find((id) => !UUID.test(id))
  const idsError = invalidId !== undefined
    ? `"${invalidId.slice(0, 40)}" is not an id.`
    : ids.length > MAX_IDS ? `At most ${MAX_IDS} at once.` : undefined
  const byFilters = kind === 'shown' ? shownFilters : forgetFilters(filters, metadata)
  const selection: Selection | undefined = kind === 'all'
    ? { scope: 'all' }
    : kind === 'ids'
      ? ids.length > 0 && idsError === undefined ? { memory_ids: ids } : undefined
      : byFilters && { filters: byFilters }
  const choice = (value: Kind, label: string, reason?: string) => (
    <label class='check'>
      <input
        type='radio' name='forget-by' checked={kind === value} disabled={reason !== undefined}
        {...(reason !== undefined && { 'aria-describedby': reason })} onChange={() => { setKind(value) }}
      /> {label}
    </label>
  )
  return (
    <form onSubmit={(event) => {
      event.preventDefault()
      const invalid = event.currentTarget.querySelector<HTMLElement>('[aria-invalid="true"]')
      if (invalid !== null) invalid.focus()
      else if (selection !== undefined) onChoose(selection)
    }}
    >
      <fieldset class='memories-choice'>
        <legend class='visually-hidden'>Which memories</legend>
        {shownCount > 0 &&
          choice('shown', 'What the filter shows', shownFilters === undefined ? 'no-forget-by-filter' : undefined)}
        {shownCount > 0 && shownFilters === undefined &&
          <p class='hint' id='no-forget-by-filter'>
            Memories cannot be forgotten by trust, state, or an instant: clear those filters first.
          </p>}
        {shownFilters !== undefined && isSearching &&
          <p class='hint'>This is everything that the filter shows, not only what the search found.</p>}
        {choice('filters', 'By speaker, tag, document, metadata or time')}
        {choice('ids', 'By their ids')}
        {choice('all', 'The whole bank', isGranted('admin') ? undefined : 'needs-admin-for-all')}
        {!isGranted('admin') &&
          <MissingPermission id='needs-admin-for-all' permission='admin' action='forget the whole bank' />}
      </fieldset>
      {kind === 'filters' && (
        <>
          <p class='hint'>Memories that pass all that you fill in are forgotten.</p>
          <div class='fields'>
            <FilterFields
              filters={filters} metadata={metadata} metadataHint='A flat JSON object.' onMetadata={setMetadata}
              onChange={(changes) => { setFilters((old) => ({ ...old, ...changes })) }}
            />
          </div>
        </>
      )}
      {kind === 'ids' && (
        <Field label='Ids' hint='One a line, or with commas between them.' error={idsError}>
          {(attributes) => (
            <textarea
              {...attributes} spellcheck={false} value={idsText}
              onInput={({ currentTarget }) => { setIdsText(currentTarget.value) }}
            />
          )}
        </Field>
      )}
      <p class='hint'>The next step shows the memories and asks for confirmation.</p>
      <div class='actions'>
        <button type='submit' class='primary' disabled={selection === undefined}>Show a preview</button>
        <button type='button' onClick={onClose}>Cancel</button>
      </div>
    </form>
  )
}
