import { useEffect, useRef } from 'preact/hooks'
import { Field } from '../../components/field.js'
import { MissingPermission } from '../../components/permission.js'
import { StateSelect } from '../../components/state-select.js'
import { CollapsibleFields } from '../../components/collapsible-fields.js'
import type { RequiredField, ReflectFormValues } from './request.js'
import { SchemaEditor } from './schema-editor.js'

interface Props {
  values: ReflectFormValues
  onChange: (changes: Partial<Omit<ReflectFormValues, 'bank'>>) => void
  onAsk: () => void
  onCancel: () => void
  isBusy: boolean
  /** The field that was missing or invalid when the user last asked. */
  missing: RequiredField | undefined
  mayRead: boolean
}

/** The selectors of the required fields. */
const FIELD_SELECTORS: Readonly<Record<RequiredField, string>> = {
  query: 'textarea', schema: '.reflect-schema',
}

const TIME_FIELDS = [
  ['occurredAfter', 'Occurred from', 'In your time zone; inclusive.'],
  ['occurredBefore', 'Occurred before', 'In your time zone; exclusive.'],
  ['validAt', 'Valid at', 'What was so in the world then.'],
  ['asOf', 'As of', 'The bank as it was stored then.'],
  ['referenceTime', 'Reference time', 'What “yesterday” refers to; empty: now, in UTC.'],
] as const

/** The form for a question, with all options for its evidence and its answer. */
export function ReflectForm ({ values, onChange, onAsk, onCancel, isBusy, missing, mayRead }: Props) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (missing !== undefined) form.current?.querySelector<HTMLElement>(FIELD_SELECTORS[missing])?.focus()
  }, [missing])
  return (
    <form
      ref={form} class='card' aria-label='Question and options' onSubmit={(event) => {
        event.preventDefault()
        onAsk()
      }}
    >
      <div class='reflect-first'>
        <Field
          label='Question'
          hint='Press Ctrl+Enter to ask.'
          error={missing === 'query' ? 'A question is missing.' : undefined}
        >
          {(attributes) => (
            <textarea
              {...attributes} rows={2} value={values.query}
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
      <CollapsibleFields summary='Which memories, and how to answer'>
        <OptionFields values={values} onChange={onChange} />
      </CollapsibleFields>
      <div class='check'>
        <input
          id='reflect-structured' type='checkbox' checked={values.hasSchema}
          onChange={({ currentTarget }) => { onChange({ hasSchema: currentTarget.checked }) }}
        />
        <label for='reflect-structured'>Also answer as an object that satisfies a JSON Schema</label>
      </div>
      {values.hasSchema && <SchemaEditor value={values.schema} onChange={(schema) => { onChange({ schema }) }} />}
      {missing === 'schema' && <p class='field-error' role='alert'>A schema must be a JSON object.</p>}
      <div class='actions'>
        <button
          type='submit' class='primary'
          // Not `disabled`: such a button has no focus, so that a keyboard would not lead to the reason.
          {...(!mayRead && { 'aria-disabled': true, 'aria-describedby': 'needs-read' })}
        >
          Ask
        </button>
        <button
          type='button' disabled={!isBusy} onClick={() => {
            onCancel()
            form.current?.querySelector<HTMLElement>(FIELD_SELECTORS.query)?.focus()
          }}
        >
          Cancel
        </button>
      </div>
      {!mayRead && <MissingPermission id='needs-read' permission='read' action='ask it' />}
    </form>
  )
}

function OptionFields ({ values, onChange }: Pick<Props, 'values' | 'onChange'>) {
  return (
    <div class='fields reflect-options'>
      <Field label='More banks' hint='Separated by commas.'>
        {(attributes) => (
          <TextInput {...attributes} value={values.moreBanks} onChange={(moreBanks) => { onChange({ moreBanks }) }} />
        )}
      </Field>
      <Field label='Speakers' hint='Who said it; separated by commas.'>
        {(attributes) => (
          <TextInput {...attributes} value={values.speakers} onChange={(speakers) => { onChange({ speakers }) }} />
        )}
      </Field>
      <Field label='Tags' hint='Separated by commas.'>
        {(attributes) => <TextInput {...attributes} value={values.tags} onChange={(tags) => { onChange({ tags }) }} />}
      </Field>
      <Field label='Tags match'>
        {(attributes) => (
          <select
            {...attributes} value={values.tagsMatch}
            onChange={({ currentTarget }) => { onChange({ tagsMatch: currentTarget.value === 'all' ? 'all' : 'any' }) }}
          >
            <option value='any'>any</option>
            <option value='all'>all</option>
          </select>
        )}
      </Field>
      <Field label='Minimum trust'>
        {(attributes) => (
          <select
            {...attributes} value={values.minTrust} onChange={({ currentTarget: { value } }) => {
              onChange({ minTrust: value === 'trusted' || value === 'untrusted' ? value : '' })
            }}
          >
            <option value=''>any that the bank allows</option>
            <option value='untrusted'>untrusted</option>
            <option value='trusted'>trusted</option>
          </select>
        )}
      </Field>
      <Field label='State' hint='“Where did I live before?” looks at superseded memories too.'>
        {(attributes) => (
          <StateSelect
            {...attributes} unset='as the question asks' value={values.state}
            onChange={(state) => { onChange({ state }) }}
          />
        )}
      </Field>
      {TIME_FIELDS.map(([name, label, hint]) => (
        <Field key={name} label={label} hint={hint}>
          {(attributes) => (
            <input
              {...attributes} type='datetime-local' value={values[name]}
              onChange={({ currentTarget }) => { onChange({ [name]: currentTarget.value }) }}
            />
          )}
        </Field>
      ))}
      <Field label='Maximum tokens of the answer' hint='Empty: as configured.'>
        {(attributes) => (
          <input
            {...attributes} type='number' min={1} step={1} value={values.maxTokens}
            onInput={({ currentTarget }) => { onChange({ maxTokens: currentTarget.value }) }}
          />
        )}
      </Field>
      <Field label='Instructions' hint='Tone, length and language of the answer.'>
        {(attributes) => (
          <textarea
            {...attributes} rows={2} value={values.instructions}
            onInput={({ currentTarget }) => { onChange({ instructions: currentTarget.value }) }}
          />
        )}
      </Field>
    </div>
  )
}

type TextInputProps = Parameters<Parameters<typeof Field>[0]['children']>[0] & {
  value: string
  onChange: (text: string) => void
}

function TextInput ({ onChange, ...attributes }: TextInputProps) {
  return (
    <input
      {...attributes} autocomplete='off' spellcheck={false}
      onInput={({ currentTarget }) => { onChange(currentTarget.value) }}
    />
  )
}
