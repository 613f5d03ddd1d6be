import { MemoryGatewayError, type Memory, type RetireMemoryBody } from 'memory-gateway-client'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { DateTimeField } from '../../components/date-time-field.js'
import { Field } from '../../components/field.js'
import { FormDialog, useUnsavedInput } from '../../components/form-dialog.js'
import { MissingPermission, type Permission } from '../../components/permission.js'
import { Failure } from '../../components/states.js'
import { TagsField } from '../../components/tags-field.js'
import { announce } from '../../state/announcer.js'
import { client } from '../../state/session.js'
import { draftOf, patchOf, type MemoryDraft } from './memory-draft.js'

interface Props {
  bank: string
  memory: Memory
  isGranted: (permission: Permission) => boolean
  onChanged: () => void
  onReload: () => void
  /** Further buttons. */
  children: ComponentChildren
}

/** The buttons that change a memory, with their dialogs. */
export function MemoryChanges ({ isGranted, children, ...props }: Props) {
  const [open, setOpen] = useState<'edit' | 'state' | undefined>(undefined)
  const isCurrent = props.memory.state === 'current'
  const mayWrite = isGranted('write')
  const close = () => { setOpen(undefined) }
  const button = (dialog: 'edit' | 'state', label: string) => (
    <button
      type='button' class='small'
      // Not `disabled`: such a button has no focus, so that a keyboard would not lead to the reason.
      {...(!mayWrite && { 'aria-disabled': true, 'aria-describedby': 'needs-write-to-change' })}
      onClick={() => { if (mayWrite) setOpen(dialog) }}
    >
      {label}
    </button>
  )
  return (
    <>
      <div class='actions'>
        {isCurrent && button('edit', 'Edit…')}
        {button('state', isCurrent ? 'Retire…' : 'Restore…')}
        {children}
      </div>
      {!mayWrite && <MissingPermission id='needs-write-to-change' permission='write' action='change the memory' />}
      <FormDialog
        title='Edit the memory' question='Discard the changes?' isOpen={open === 'edit'} onClose={close}
      >
        {(onClose) => <EditForm {...props} onDone={close} onClose={onClose} />}
      </FormDialog>
      <FormDialog
        title={isCurrent ? 'Retire the memory' : 'Restore the memory'} question='Discard the note?'
        isOpen={open === 'state'} onClose={close}
      >
        {(onClose) => <StateForm {...props} onDone={close} onClose={onClose} />}
      </FormDialog>
    </>
  )
}

interface FormProps extends Pick<Props, 'bank' | 'memory' | 'onChanged' | 'onReload'> {
  onDone: () => void
  /** Asks before it discards input. */
  onClose: () => void
}

/** Sends a change of the version that is shown. */
function useChange ({ bank, memory, onChanged, onDone }: FormProps) {
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const send = async (change: (version: Version) => Promise<Memory>, done: string) => {
    setIsBusy(true)
    setError(undefined)
    try {
      await change({ bank_id: bank, memory_id: memory.memory_id, if_match: `"${memory.version}"` })
      announce(done)
      onDone()
      onChanged()
    } catch (failure) {
      setError(failure)
      setIsBusy(false)
    }
  }
  return { error, isBusy, send, clear: () => { setError(undefined) } }
}

interface Version { bank_id: string, memory_id: string, if_match: string }

function EditForm (props: FormProps) {
  const { memory, onReload, onClose } = props
  const [changes, setChanges] = useState<Partial<MemoryDraft>>({})
  const [reason, setReason] = useState('')
  const { error, isBusy, send, clear } = useChange(props)
  const draft = { ...draftOf(memory), ...changes }
  const patch = patchOf(memory, changes)
  const isChanged = Object.keys(patch).length > 0
  useUnsavedInput(isChanged || reason !== '')
  const change = (more: Partial<MemoryDraft>) => { setChanges((old) => ({ ...old, ...more })) }
  const timeField = (name: 'validFrom' | 'validUntil', label: string, hint: string) => (
    <DateTimeField label={label} hint={hint} value={draft[name]} onChange={(at) => { change({ [name]: at }) }} />
  )
  return (
    <form onSubmit={(event) => {
      event.preventDefault()
      if (!isChanged || draft.content.trim() === '' || isBusy) return
      const told = reason.trim() === '' ? patch : { ...patch, reason: reason.trim() }
      void send(async (version) => await client.value.patchMemory({ ...version, patch: told }), 'The memory is changed')
    }}
    >
      <Field label='Content'>
        {(attributes) => (
          <textarea
            {...attributes} rows={5} value={draft.content}
            onInput={({ currentTarget }) => { change({ content: currentTarget.value }) }}
          />
        )}
      </Field>
      <div class='fields'>
        <TagsField label='Tags' tags={draft.tags} onChange={(tags) => { change({ tags }) }} />
        <Field label='Key' hint='A slot that holds one fact, such as alice/employer.'>
          {(attributes) => (
            <input
              {...attributes} value={draft.key} autocomplete='off' spellcheck={false}
              onInput={({ currentTarget }) => { change({ key: currentTarget.value }) }}
            />
          )}
        </Field>
        {timeField('validFrom', 'Valid from', 'Since when it is so, in your time zone.')}
        {timeField('validUntil', 'Valid until', 'Until when it was so, exclusive.')}
      </div>
      <NoteField label='Reason' value={reason} onChange={setReason} />
      <ChangeFailure
        error={error} label='Load their version and keep my changes' onReload={() => {
          clear()
          onReload()
        }}
      />
      <FormActions
        isReady={isChanged && draft.content.trim() !== ''} isBusy={isBusy} action='Save' onClose={onClose}
      />
    </form>
  )
}

const REASONS: Readonly<Record<RetireMemoryBody['reason'], string>> = {
  superseded: 'It is so no more.',
  invalidated: 'It was never so.',
  other: 'For another reason.',
}

/** Retires a memory, or restores it. */
function StateForm (props: FormProps) {
  const { memory, onReload, onClose } = props
  const [reason, setReason] = useState<RetireMemoryBody['reason']>('superseded')
  const [note, setNote] = useState('')
  const { error, isBusy, send, clear } = useChange(props)
  useUnsavedInput(note !== '')
  const isCurrent = memory.state === 'current'
  const run = async () => {
    const told = note.trim() === '' ? {} : { note: note.trim() }
    if (isCurrent) {
      await send(async (version) => await client.value.retireMemory({ ...version, reason, ...told }),
        'The memory is retired')
    } else {
      await send(async (version) => await client.value.restoreMemory({ ...version, ...told }), 'The memory is restored')
    }
  }
  return (
    <form onSubmit={(event) => {
      event.preventDefault()
      if (!isBusy) void run()
    }}
    >
      <p>
        {isCurrent
          ? 'It stays in the bank, but only those who ask for what is past find it. It can be restored.'
          : 'It becomes current again.'}
      </p>
      {isCurrent && (
        <Field label='Why'>
          {(attributes) => (
            <select
              {...attributes} value={reason} onChange={({ currentTarget: { value } }) => {
                setReason(value === 'invalidated' || value === 'other' ? value : 'superseded')
              }}
            >
              {Object.entries(REASONS).map(([value, label]) => <option key={value} value={value}>{label}</option>)}
            </select>
          )}
        </Field>
      )}
      <NoteField label='Note' value={note} onChange={setNote} />
      <ChangeFailure
        error={error} label='Load their version' onReload={() => {
          clear()
          onReload()
        }}
      />
      <FormActions isReady isBusy={isBusy} action={isCurrent ? 'Retire' : 'Restore'} onClose={onClose} />
    </form>
  )
}

function NoteField ({ label, value, onChange }: { label: string, value: string, onChange: (text: string) => void }) {
  return (
    <Field label={label} hint='For readers of its versions; need not be given.'>
      {(attributes) => (
        <input
          {...attributes} value={value} autocomplete='off'
          onInput={({ currentTarget }) => { onChange(currentTarget.value) }}
        />
      )}
    </Field>
  )
}

function FormActions (
  { isReady, isBusy, action, onClose }: { isReady: boolean, isBusy: boolean, action: string, onClose: () => void },
) {
  return (
    <div class='actions'>
      <button type='submit' class='primary' disabled={!isReady} aria-disabled={isBusy}>
        {isBusy ? 'Working…' : action}
      </button>
      <button type='button' onClick={onClose}>Cancel</button>
    </div>
  )
}

/** Why nothing was changed. */
function ChangeFailure ({ error, label, onReload }: { error: unknown, label: string, onReload: () => void }) {
  if (error === undefined) return null
  if (!(error instanceof MemoryGatewayError && error.code === 'precondition_failed')) return <Failure error={error} />
  return (
    <div class='notice' role='alert'>
      <p>Somebody else has changed this memory in the meantime, so nothing was saved.</p>
      <button type='button' onClick={onReload}>{label}</button>
    </div>
  )
}
