import type { BankConfigAnswer } from 'memory-gateway-client'
import { Field } from '../../components/field.js'
import { formatNumber } from '../../text/format.js'
import { valueAt } from '../../text/value-at.js'

type Origin = BankConfigAnswer['origin'][string]

const ORIGINS: Readonly<Record<Origin, string>> = {
  bank: 'set here', profile: 'from the profile', file: 'from the server\'s file', default: 'the default',
}

interface Props {
  path: string
  label: string
  hint?: string | undefined
  answer: BankConfigAnswer
  value: string
  error: string | undefined
  onChange: (text: string) => void
}

export function TextSetting ({ path, label, hint, answer, value, error, onChange }: Props) {
  const inForce = valueAt(answer.effective, path)
  const isInherited = typeof inForce === 'string' && answer.origin[path] !== 'bank'
  return (
    <Field
      label={label} error={error}
      hint={<>{hint}{isInherited && ` In force, ${originOf(answer, path)}: ${inForce}`}</>}
    >
      {(attributes) => (
        <textarea
          {...attributes} rows={2} value={value} onInput={({ currentTarget }) => { onChange(currentTarget.value) }}
        />
      )}
    </Field>
  )
}

/** A limit, with the value in force, where it comes from, and the highest that the operator allows. */
export function NumberSetting (
  { path, label, hint, answer, value, error, onChange, min }: Props & { min: number },
) {
  const inForce = valueAt(answer.effective, path)
  const ceiling = answer.ceilings[path]
  return (
    <div class='setting'>
      <Field
        label={label} error={error} hint={(
          <>
            {hint !== undefined && <>{hint} </>}
            <span class='setting-fact'>
              In force: {typeof inForce === 'number'
              ? `${formatNumber(inForce)}, ${originOf(answer, path)}`
              : 'no limit'}.
            </span>{' '}
            <span class='setting-fact'>
              {typeof ceiling === 'number' ? `At most ${formatNumber(ceiling)}.` : 'The server sets no ceiling.'}
            </span>
          </>
        )}
      >
        {(attributes) => (
          <input
            {...attributes} type='number' step={1} min={min} value={value}
            {...(typeof ceiling === 'number' && { max: ceiling })}
            placeholder={typeof inForce === 'number' ? String(inForce) : 'no limit'}
            onInput={({ currentTarget }) => { onChange(currentTarget.value) }}
          />
        )}
      </Field>
    </div>
  )
}

function originOf ({ origin }: BankConfigAnswer, path: string): string {
  const found = origin[path]
  return found === undefined ? 'of the server' : ORIGINS[found]
}
