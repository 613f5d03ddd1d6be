import { MemoryGatewayError, type BankConfigAnswer } from 'memory-gateway-client'
import { useState } from 'preact/hooks'
import { MissingPermission } from '../../components/permission.js'
import { useLeaveGuard } from '../../components/question-dialog.js'
import { SafeText } from '../../components/safe-text.js'
import { Failure, Loadable } from '../../components/states.js'
import { Time } from '../../components/time.js'
import { announce } from '../../state/announcer.js'
import { client } from '../../state/session.js'
import { useLoad } from '../../state/use-load.js'
import { Grants } from './grants.js'
import { LIMIT_GROUPS, LIMITS } from './limits.js'
import { changesOf, hasChanges, NO_CHANGES, ownGrants, ownText, patchOf, type SettingsDraft } from './settings-draft.js'
import { NumberSetting, TextSetting } from './setting-fields.js'

const QUESTION = {
  title: 'Discard the changes?',
  loss: 'The changed settings of the bank are not saved.',
  discard: 'Discard',
  keep: 'Keep editing',
}

/** What the admins of a bank set for it: its mission, its limits, and who may use it. */
export function BankSettings ({ bank }: { bank: string }) {
  const caller = useLoad(async (signal) => await client.value.whoami({ bank_id: bank }, { signal }), [bank])
  return (
    <section class='card' aria-labelledby='settings'>
      <h3 id='settings'>Mission, limits and grants</h3>
      <Loadable loaded={caller} label='Loading the settings'>
        {({ permissions = [] }) => permissions.some(({ permission }) => permission === 'admin')
          ? <LoadedSettings bank={bank} />
          : <MissingPermission permission='admin' action='see and change these settings' />}
      </Loadable>
    </section>
  )
}

function LoadedSettings ({ bank }: { bank: string }) {
  const [saved, setSaved] = useState<BankConfigAnswer | undefined>(undefined)
  const loaded = useLoad(async (signal) => {
    const answer = await client.value.getBankConfig({ bank_id: bank }, { signal })
    setSaved(undefined)
    return answer
  }, [bank])
  return (
    <Loadable loaded={loaded} label='Loading the settings'>
      {(answer) => (
        <SettingsForm bank={bank} answer={saved ?? answer} onSaved={setSaved} onReload={loaded.reload} />
      )}
    </Loadable>
  )
}

interface FormProps {
  bank: string
  answer: BankConfigAnswer
  onSaved: (answer: BankConfigAnswer) => void
  onReload: () => void
}

function SettingsForm ({ bank, answer, onSaved, onReload }: FormProps) {
  const [draft, setDraft] = useState(NO_CHANGES)
  const [error, setError] = useState<unknown>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const changes = changesOf(answer, draft)
  const isChanged = hasChanges(changes)
  useLeaveGuard(isChanged, QUESTION, 'page')
  const { conflict, errorOf, rest } = readError(error)
  const change = (next: Partial<SettingsDraft>) => { setDraft((old) => ({ ...old, ...next })) }
  const textProps = (path: string) => ({
    path,
    answer,
    error: errorOf(path),
    value: draft.texts[path] ?? ownText(answer, path),
    onChange: (text: string) => { change({ texts: { ...draft.texts, [path]: text } }) },
  })
  const save = async () => {
    setIsBusy(true)
    try {
      const saved = await client.value.patchBankConfig({
        bank_id: bank, patch: patchOf(changes), if_match: answer.etag,
      })
      onSaved(saved)
      setDraft(NO_CHANGES)
      setError(undefined)
      announce('The settings are saved')
    } catch (failure) {
      setError(failure)
    }
    setIsBusy(false)
  }
  return (
    <form
      // The server knows the limits, and its messages stand at the fields.
      noValidate aria-label='Settings of the bank' onSubmit={(event) => {
        event.preventDefault()
        if (isChanged && !isBusy) void save()
      }}
    >
      <SavedAt answer={answer} />
      <TextSetting {...textProps('description')} label='Description' hint='What the bank contains, for people.' />
      <TextSetting
        {...textProps('mission')} label='Mission'
        hint='What the bank is for, and the tone of answers from it. The language model reads it with every question.'
      />
      {LIMIT_GROUPS.map(({ title, limits }) => (
        <fieldset key={title} class='settings-group'>
          <legend>{title}</legend>
          <div class='fields'>
            {limits.map(({ path, label, hint, min = 1 }) => (
              <NumberSetting key={path} {...textProps(path)} label={label} hint={hint} min={min} />
            ))}
          </div>
        </fieldset>
      ))}
      <Grants
        grants={draft.grants ?? ownGrants(answer)} effective={answer.effective.access ?? []}
        own={ownGrants(answer)} errorOf={errorOf} onChange={(grants) => { change({ grants }) }}
      />
      {conflict && (
        <div class='notice' role='alert'>
          <p>Somebody else has changed these settings in the meantime, so nothing was saved.</p>
          <button
            type='button' onClick={() => {
              setError(undefined)
              onReload()
            }}
          >
            Load their settings and keep my changes
          </button>
        </div>
      )}
      {rest !== undefined && <Failure error={rest} />}
      <div class='actions'>
        <button type='submit' class='primary' disabled={!isChanged} aria-disabled={isBusy}>
          {isBusy ? 'Saving…' : 'Save the settings'}
        </button>
        <button
          type='button' disabled={!isChanged} onClick={() => {
            setDraft(NO_CHANGES)
            setError(undefined)
          }}
        >
          Discard the changes
        </button>
      </div>
    </form>
  )
}

function SavedAt ({ answer: { updated_at: at, updated_by: by } }: { answer: BankConfigAnswer }) {
  if (at === null) return <p>Nothing is set: the bank uses the values of the server.</p>
  return <p>Last changed <Time at={at} /> by {by === null ? 'an anonymous caller' : <SafeText text={by} />}.</p>
}

/** An error as the form shows it: a conflict, the messages at fields, and anything else. */
function readError (error: unknown) {
  const isOurs = error instanceof MemoryGatewayError
  const fields = isOurs ? error.body?.errors ?? [] : []
  const errorOf = (path: string): string | undefined => (
    fields.find(({ field }) => field === path)?.message
  )
  const shown = ['description', 'mission', ...LIMITS.map(({ path }) => path)]
  const isPlaced = (field: string) => shown.includes(field) || field.startsWith('access')
  const conflict = isOurs && error.code === 'precondition_failed'
  const isAtFields = fields.length > 0 && fields.every(({ field }) => isPlaced(field))
  return { conflict, errorOf, rest: conflict || isAtFields ? undefined : error }
}
