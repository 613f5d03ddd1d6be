import { useEffect, useState } from 'preact/hooks'
import { TagsField } from '../../components/tags-field.js'
import { Field } from '../../components/field.js'
import { FormDialog, useUnsavedInput } from '../../components/form-dialog.js'
import { MissingPermission, type Permission } from '../../components/permission.js'
import { credentials } from '../../state/session.js'
import { ForgetDialog, type Selection } from './forget-dialog.js'
import type { Undo } from './undo.js'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const MAX_IDS = 1000

type Kind = 'tags' | 'ids' | 'all'

interface Props {
  bank: string
  isGranted: (permission: Permission) => boolean
  isOpen: boolean
  /** The tags that the list is filtered by. */
  tags: readonly string[]
  tagsMatch: 'any' | 'all'
  onDone: (count: number, undo: Undo | undefined) => void
  onClose: () => void
}

/** Asks which memories to forget, and shows them for confirmation above the choice, to which Cancel leads back. */
export function ForgetSelectionDialog ({ bank, isGranted, isOpen, tags, tagsMatch, onDone, onClose }: Props) {
  const [selection, setSelection] = useState<Selection | undefined>(undefined)
  const isUsable = isOpen && credentials.value !== undefined
  // A sign-in must not bring the preview back below the choice.
  useEffect(() => { if (!isUsable) setSelection(undefined) }, [isUsable])
  return (
    <>
      <FormDialog title='What is to be forgotten?' question='Discard this choice?' isOpen={isOpen} onClose={onClose}>
        {(close) => (
          <Choice isGranted={isGranted} tags={tags} tagsMatch={tagsMatch} onChoose={setSelection} onClose={close} />
        )}
      </FormDialog>
      <ForgetDialog
        bank={bank} isGranted={isGranted} selection={isUsable ? selection : undefined} onDone={onDone}
        onClose={() => { setSelection(undefined) }}
      />
    </>
  )
}

interface ChoiceProps extends Pick<Props, 'isGranted' | 'tags' | 'tagsMatch' | 'onClose'> {
  onChoose: (selection: Selection) => void
}

function Choice ({ isGranted, tags: initialTags, tagsMatch, onChoose, onClose }: ChoiceProps) {
  const [kind, setKind] = useState<Kind>('tags')
  const [tags, setTags] = useState<string[]>([...initialTags])
  const [tagsMode, setTagsMode] = useState(tagsMatch)
  const [idsText, setIdsText] = useState('')
  useUnsavedInput(idsText.trim() !== '' || tags.join('\n') !== initialTags.join('\n'))
  const ids = idsText.split(/[\s,]+/).filter((id) => id !== '')
  const invalidId = ids.find((id) => !UUID.test(id))
  const idsError = invalidId !== undefined
    ? `"${invalidId.slice(0, 40)}" is not an id.`
    : ids.length > MAX_IDS ? `At most ${MAX_IDS} at once.` : undefined
  const mayForgetAll = isGranted('admin')
  const selection: Selection | undefined = kind === 'all'
    ? { scope: 'all' }
    : kind === 'tags'
      ? tags.length > 0 ? { tags, tags_match: tagsMode } : undefined
      : ids.length > 0 && idsError === undefined ? { memory_ids: ids } : undefined
  const choice = (value: Kind, label: string) => (
    <label class='check'>
      <input
        type='radio' name='forget-by' checked={kind === value} disabled={value === 'all' && !mayForgetAll}
        {...(value === 'all' && !mayForgetAll && { 'aria-describedby': 'needs-admin-for-all' })}
        onChange={() => { setKind(value) }}
      /> {label}
    </label>
  )
  return (
    <form onSubmit={(event) => {
      event.preventDefault()
      if (selection !== undefined) onChoose(selection)
    }}
    >
      <fieldset class='memories-choice'>
        <legend class='visually-hidden'>Which memories</legend>
        {choice('tags', 'Memories with tags')}
        {choice('ids', 'Memories by their ids')}
        {choice('all', 'The whole bank')}
        {!mayForgetAll &&
          <MissingPermission id='needs-admin-for-all' permission='admin' action='forget the whole bank' />}
      </fieldset>
      {kind === 'tags' && (
        <>
          <TagsField label='Tags to forget' tags={tags} onChange={setTags} />
          <Field label='Forget memories that have'>
            {(attributes) => (
              <select
                {...attributes} value={tagsMode}
                onChange={({ currentTarget }) => { setTagsMode(currentTarget.value === 'all' ? 'all' : 'any') }}
              >
                <option value='any'>any of them</option>
                <option value='all'>all of them</option>
              </select>
            )}
          </Field>
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
