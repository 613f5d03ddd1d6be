import { useEffect, useRef } from 'preact/hooks'
import { BankField } from '../../components/bank-field.js'
import { Field } from '../../components/field.js'
import { MoreFields } from '../../components/more-fields.js'
import type { Missing, Wishes } from './request.js'
import { SchemaEditor } from './schema-editor.js'

interface Props {
  wishes: Wishes
  onChange: (changes: Partial<Wishes>) => void
  onAsk: () => void
  onCancel: () => void
  isBusy: boolean
  /** What the last attempted request lacks. */
  missing: Missing | undefined
}

/** The selectors of the fields that may be missing. */
const PLACES: Readonly<Record<Missing, string>> = { bank: 'input[list]', query: 'textarea', schema: '.reflect-schema' }

const TIMES = [
  ['occurredAfter', 'Happened from', 'Inclusive.'],
  ['occurredBefore', 'Happened before', 'Exclusive.'],
  ['asOf', 'As known at', 'Only memories retained by then.'],
  ['referenceTime', 'Time of the question', 'What "yesterday" refers to. Empty: now.'],
] as const

/** The question and all options for its evidence and its answer. */
export function ReflectForm ({ wishes, onChange, onAsk, onCancel, isBusy, missing }: Props) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (missing !== undefined) form.current?.querySelector<HTMLElement>(PLACES[missing])?.focus()
  }, [missing])
  return (
    <form
      ref={form} class='card' aria-label='What is asked' onSubmit={(event) => {
        event.preventDefault()
        onAsk()
      }}
    >
      <div class='reflect-first'>
        <BankField value={wishes.bank} onChange={(bank) => { onChange({ bank }) }} />
        <Field label='Question' hint='Ctrl and Enter ask.' error={missing === 'query' ? 'A question is missing.' : undefined}>
          {(attributes) => (
            <textarea
              {...attributes} rows={2} maxLength={8192} value={wishes.query}
              onInput={({ currentTarget }) => { onChange({ query: currentTarget.value }) }}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
                event.preventDefault()
                event.currentTarget.form?.requestSubmit()
              }}
            />
          )}
        </Field>
      </div>
      {missing === 'bank' && <p class='field-error' role='alert'>Choose a bank first.</p>}
      <MoreFields summary='Evidence and answer'><Knobs wishes={wishes} onChange={onChange} /></MoreFields>
      <div class='check'>
        <input
          id='reflect-structured' type='checkbox' checked={wishes.hasSchema}
          onChange={({ currentTarget }) => { onChange({ hasSchema: currentTarget.checked }) }}
        />
        <label for='reflect-structured'>Also answer as an object of a form of mine</label>
      </div>
      {wishes.hasSchema && <SchemaEditor value={wishes.schema} onChange={(schema) => { onChange({ schema }) }} />}
      {missing === 'schema' && <p class='field-error' role='alert'>The schema cannot be used as it is.</p>}
      <div class='actions'>
        <button type='submit' class='primary'>Ask</button>
        <button
          type='button' disabled={!isBusy} onClick={() => {
            onCancel()
            form.current?.querySelector<HTMLElement>(PLACES.query)?.focus()
          }}
        >Cancel
        </button>
      </div>
    </form>
  )
}

function Knobs ({ wishes, onChange }: Pick<Props, 'wishes' | 'onChange'>) {
  return (
    <div class='fields reflect-knobs'>
      <Field label='More banks' hint='Separated by commas.'>
        {(attributes) => (
          <Text attributes={attributes} value={wishes.moreBanks} onText={(moreBanks) => { onChange({ moreBanks }) }} />
        )}
      </Field>
      <Field label='Tags' hint='Separated by commas.'>
        {(attributes) => <Text attributes={attributes} value={wishes.tags} onText={(tags) => { onChange({ tags }) }} />}
      </Field>
      <Field label='Of the tags'>
        {(attributes) => (
          <select
            {...attributes} value={wishes.tagsMatch}
            onChange={({ currentTarget }) => { onChange({ tagsMatch: currentTarget.value === 'all' ? 'all' : 'any' }) }}
          >
            <option value='any'>any</option>
            <option value='all'>all</option>
          </select>
        )}
      </Field>
      <Field label='Least trust'>
        {(attributes) => (
          <select
            {...attributes} value={wishes.minTrust} onChange={({ currentTarget: { value } }) => {
              onChange({ minTrust: value === 'trusted' || value === 'untrusted' ? value : '' })
            }}
          >
            <option value=''>any that the bank takes</option>
            <option value='untrusted'>untrusted</option>
            <option value='trusted'>trusted</option>
          </select>
        )}
      </Field>
      {TIMES.map(([name, label, hint]) => (
        <Field key={name} label={label} hint={hint}>
          {(attributes) => (
            <input
              {...attributes} type='datetime-local' value={wishes[name]}
              onChange={({ currentTarget }) => { onChange({ [name]: currentTarget.value }) }}
            />
          )}
        </Field>
      ))}
      <Field label='Tokens of the answer at most' hint='Empty: as configured.'>
        {(attributes) => (
          <input
            {...attributes} type='number' min={1} step={1} value={wishes.maxTokens}
            onInput={({ currentTarget }) => { onChange({ maxTokens: currentTarget.value }) }}
          />
        )}
      </Field>
      <Field label='Instructions' hint='Tone, length and language; they add no facts.'>
        {(attributes) => (
          <textarea
            {...attributes} rows={2} maxLength={4000} value={wishes.instructions}
            onInput={({ currentTarget }) => { onChange({ instructions: currentTarget.value }) }}
          />
        )}
      </Field>
    </div>
  )
}

interface TextProps {
  attributes: Parameters<Parameters<typeof Field>[0]['children']>[0]
  value: string
  onText: (text: string) => void
}

function Text ({ attributes, value, onText }: TextProps) {
  return <input {...attributes} autocomplete='off' spellcheck={false} value={value} onInput={({ currentTarget }) => { onText(currentTarget.value) }} />
}
