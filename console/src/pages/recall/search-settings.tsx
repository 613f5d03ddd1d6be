import { Field } from '../../components/field.js'
import { CollapsibleFields } from '../../components/collapsible-fields.js'
import { DateTimeField } from '../../components/date-time-field.js'
import { StateSelect } from '../../components/state-select.js'
import { TagsField } from '../../components/tags-field.js'
import { parseMetadata } from '../../text/metadata.js'
import { STRATEGIES, TRUSTS, type Settings, type StrategyChoice } from './settings.js'

const STRATEGY_NAMES: Readonly<Record<StrategyChoice, string>> = {
  default: 'as configured',
  lexical: 'by words only',
  semantic: 'by meaning only',
  both: 'by words and by meaning',
}

interface Props {
  title: string
  settings: Settings
  onChange: (settings: Settings) => void
}

/** The fields for all settings of a recall. */
export function SearchSettings ({ title, settings, onChange }: Props) {
  const change = (changes: Partial<Settings>) => { onChange({ ...settings, ...changes }) }
  const numberField = (
    name: 'maxResults' | 'maxTokens' | 'minScore', label: string, hint: string,
    range: { min: number, max?: number, step?: string },
  ) => (
    <Field label={label} hint={hint}>
      {(attributes) => (
        <input
          {...attributes} {...range} type='number' value={settings[name]}
          onInput={({ currentTarget }) => { change({ [name]: currentTarget.value }) }}
        />
      )}
    </Field>
  )
  const timeField = (
    name: 'occurredAfter' | 'occurredBefore' | 'validAt' | 'asOf' | 'referenceTime', label: string, hint: string,
  ) => (
    <DateTimeField label={label} hint={hint} value={settings[name]} onChange={(at) => { change({ [name]: at }) }} />
  )
  const checkbox = (name: 'rewrite' | 'modelRerank', label: string) => (
    <label class='check'>
      <input
        type='checkbox'
        checked={settings[name]}
        onChange={({ currentTarget }) => { change({ [name]: currentTarget.checked }) }}
      />
      {label}
    </label>
  )
  return (
    <fieldset class='recall-settings'>
      <legend>{title}</legend>
      <div class='fields'>
        <Field label='Find memories'>
          {(attributes) => (
            <select
              {...attributes} value={settings.strategies} onChange={({ currentTarget: { value } }) => {
                change({ strategies: STRATEGIES.find((strategy) => strategy === value) ?? 'default' })
              }}
            >
              {STRATEGIES.map((choice) => <option key={choice} value={choice}>{STRATEGY_NAMES[choice]}</option>)}
            </select>
          )}
        </Field>
        {numberField('maxResults', 'Maximum results', '1 to 1000', { min: 1, max: 1000 })}
        {numberField('minScore', 'Minimum score', '0 to 1; empty: none', { min: 0, max: 1, step: 'any' })}
        {numberField('maxTokens', 'Maximum tokens', 'For all hits together; empty: no limit', { min: 1 })}
      </div>
      <CollapsibleFields summary='Filters, times and models'>
        <div class='fields'>
          <TagsField
            label='Speakers' hint='Who said it. Press Enter to add a name.' tags={settings.speakers}
            onChange={(speakers) => { change({ speakers }) }}
          />
          <TagsField label='Tags' tags={settings.tags} onChange={(tags) => { change({ tags }) }} />
          <Field label='Tags match'>
            {(attributes) => (
              <select
                {...attributes} value={settings.tagsMatch}
                onChange={({ currentTarget }) => {
                  change({
                    tagsMatch: currentTarget.value === 'all' ? 'all' : 'any',
                  })
                }}
              >
                <option value='any'>any of them</option>
                <option value='all'>all of them</option>
              </select>
            )}
          </Field>
          <Field label='Metadata' hint='A flat JSON object.' error={parseMetadata(settings.metadata).error}>
            {(attributes) => (
              <input
                {...attributes} value={settings.metadata} placeholder='{"kind": "note"}' autocomplete='off'
                spellcheck={false} onInput={({ currentTarget }) => { change({ metadata: currentTarget.value }) }}
              />
            )}
          </Field>
          <Field label='Minimum trust'>
            {(attributes) => (
              <select
                {...attributes} value={settings.minTrust}
                onChange={({ currentTarget: { value } }) => {
                  change({
                    minTrust: TRUSTS.find((level) => level === value) ?? '',
                  })
                }}
              >
                <option value=''>any</option>
                {TRUSTS.map((level) => <option key={level} value={level}>{level}</option>)}
              </select>
            )}
          </Field>
          {timeField('occurredAfter', 'Occurred from', 'In your time zone; inclusive.')}
          {timeField('occurredBefore', 'Occurred before', 'In your time zone; exclusive.')}
          <Field label='State' hint='Superseded is not wrong: it was so before.'>
            {(attributes) => (
              <StateSelect {...attributes} value={settings.state} onChange={(state) => { change({ state }) }} />
            )}
          </Field>
          {timeField('validAt', 'Valid at', 'What was so in the world then.')}
          {timeField('asOf', 'As of', 'The bank as it was stored then.')}
          {timeField('referenceTime', 'Reference time', 'What “yesterday” refers to; empty: now, in UTC.')}
        </div>
        {checkbox('rewrite', 'Also search for other wordings from the language model (rewrite)')}
        {checkbox('modelRerank', 'Rerank the best hits with the language model (model_rerank)')}
      </CollapsibleFields>
    </fieldset>
  )
}
