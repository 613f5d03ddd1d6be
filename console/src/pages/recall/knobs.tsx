import { Field } from '../../components/field.js'
import { MoreFields } from '../../components/more-fields.js'
import { InstantField } from '../../components/instant-field.js'
import { TagsField } from '../../components/tags-field.js'
import { readMetadata } from '../../text/metadata.js'
import { STRATEGIES, TRUSTS, type Settings, type StrategyChoice } from './settings.js'

const STRATEGY_NAMES: Readonly<Record<StrategyChoice, string>> = {
  default: 'as configured',
  lexical: 'by words alone',
  semantic: 'by meaning alone',
  both: 'by words and by meaning',
}

interface Props {
  title: string
  settings: Settings
  onChange: (settings: Settings) => void
}

/** All settings of a recall. */
export function Knobs ({ title, settings, onChange }: Props) {
  const change = (changes: Partial<Settings>) => { onChange({ ...settings, ...changes }) }
  const number = (
    name: 'maxResults' | 'maxTokens' | 'minScore', label: string, hint: string,
    bounds: { min: number, max?: number, step?: string },
  ) => (
    <Field label={label} hint={hint}>
      {(attributes) => (
        <input
          {...attributes} {...bounds} type='number' value={settings[name]}
          onInput={({ currentTarget }) => { change({ [name]: currentTarget.value }) }}
        />
      )}
    </Field>
  )
  const instant = (name: 'occurredAfter' | 'occurredBefore' | 'asOf' | 'referenceTime', label: string, hint: string) => (
    <InstantField label={label} hint={hint} value={settings[name]} onChange={(at) => { change({ [name]: at }) }} />
  )
  const check = (name: 'rewrite' | 'modelRerank', label: string) => (
    <label class='check'>
      <input type='checkbox' checked={settings[name]} onChange={({ currentTarget }) => { change({ [name]: currentTarget.checked }) }} />
      {label}
    </label>
  )
  return (
    <fieldset class='recall-knobs'>
      <legend>{title}</legend>
      <div class='fields'>
        <Field label='Strategies'>
          {(attributes) => (
            <select
              {...attributes} value={settings.strategies} onChange={({ currentTarget: { value } }) => {
                change({ strategies: STRATEGIES.find((one) => one === value) ?? 'default' })
              }}
            >
              {STRATEGIES.map((choice) => <option key={choice} value={choice}>{STRATEGY_NAMES[choice]}</option>)}
            </select>
          )}
        </Field>
        {number('maxResults', 'Most results', '1 to 1000', { min: 1, max: 1000 })}
        {number('minScore', 'Least score', '0 to 1; empty: none', { min: 0, max: 1, step: 'any' })}
        {number('maxTokens', 'Most tokens', 'Of all hits; empty: no bound of yours', { min: 1 })}
      </div>
      <MoreFields summary='Filters, times and models'>
        <div class='fields'>
          <TagsField label='Tags' tags={settings.tags} onChange={(tags) => { change({ tags }) }} />
          <Field label='Tags match'>
            {(attributes) => (
              <select
                {...attributes} value={settings.tagsMatch}
                onChange={({ currentTarget }) => { change({ tagsMatch: currentTarget.value === 'all' ? 'all' : 'any' }) }}
              >
                <option value='any'>any of them</option>
                <option value='all'>all of them</option>
              </select>
            )}
          </Field>
          <Field label='Metadata' hint='A flat JSON object.' error={readMetadata(settings.metadata).error}>
            {(attributes) => (
              <input
                {...attributes} value={settings.metadata} placeholder='{"kind": "note"}' autocomplete='off'
                spellcheck={false} onInput={({ currentTarget }) => { change({ metadata: currentTarget.value }) }}
              />
            )}
          </Field>
          <Field label='Trust at least'>
            {(attributes) => (
              <select
                {...attributes} value={settings.minTrust}
                onChange={({ currentTarget: { value } }) => { change({ minTrust: TRUSTS.find((one) => one === value) ?? '' }) }}
              >
                <option value=''>any</option>
                {TRUSTS.map((level) => <option key={level} value={level}>{level}</option>)}
              </select>
            )}
          </Field>
          {instant('occurredAfter', 'Occurred from', 'In your zone; inclusive.')}
          {instant('occurredBefore', 'Occurred before', 'In your zone; exclusive.')}
          {instant('asOf', 'As of', 'Only what was retained by then.')}
          {instant('referenceTime', 'Reference time', 'What “yesterday” refers to; empty: now.')}
        </div>
        {check('rewrite', 'Search other wordings, which the language model thinks of (rewrite)')}
        {check('modelRerank', 'Have the language model order the best (model_rerank)')}
      </MoreFields>
    </fieldset>
  )
}
