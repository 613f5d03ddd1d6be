import { CopyButton } from '../../components/copy-button.js'
import { SafeText } from '../../components/safe-text.js'
import { Failure, Loading } from '../../components/states.js'
import { formatMilliseconds, formatNumber } from '../../text/format.js'
import type { AnswerPart } from './citations.js'
import type { Lights } from './lights.js'
import { isUnderWay, type Run } from './use-reflect.js'

const WORKING: Partial<Record<Run['phase'], string>> = {
  searching: 'The memories are searched',
  answering: 'The answer is on its way',
}

/** The answer as far as it has arrived, with remarks about it. */
export function Answer ({ run, parts, lights }: { run: Run, parts: readonly AnswerPart[], lights: Lights }) {
  const { phase, conclusion, error } = run
  const working = WORKING[phase]
  const isEmpty = parts.length === 0
  return (
    <section class='card reflect-answer' aria-labelledby='reflect-answer' aria-busy={isUnderWay(run)}>
      <h2 id='reflect-answer'>Answer</h2>
      <Remarks run={run} />
      {!isEmpty && <p class='reflect-text'>{parts.map((part, index) => <Part key={index} part={part} lights={lights} />)}</p>}
      {working !== undefined && <Loading what={working} />}
      {phase === 'cancelled' && (
        <p class='notice'>
          {isEmpty ? 'Cancelled before the answer began.' : 'Cancelled: this is how far the answer had come.'}
        </p>
      )}
      {phase === 'failed' && !isEmpty && <p class='notice'>The answer broke off; what stands above is not all of it.</p>}
      {phase === 'failed' && <Failure error={error} />}
      {conclusion?.structured !== undefined && <Structured value={conclusion.structured} />}
      {run.hasSchema && conclusion !== undefined && conclusion.structured === undefined && (
        <p>No object was made, as there is no answer.</p>
      )}
      <Figures run={run} />
    </section>
  )
}

function Part ({ part, lights }: { part: AnswerPart, lights: Lights }) {
  if (typeof part === 'string') return <SafeText text={part} shown={part.length} isExpandable={false} />
  return (
    <button
      type='button' class={lights.isLit(part) ? 'reflect-mark lit' : 'reflect-mark'} data-mark={part}
      aria-label={`Source [${part}]`} {...lights.handlersOf(part)} onClick={() => { lights.goToSource(part) }}
    >{`[${part}]`}
    </button>
  )
}

/** Remarks on the limits of an answer. */
function Remarks ({ run: { conclusion, sources } }: { run: Run }) {
  if (conclusion === undefined) return null
  const { abstained, unverified, truncated, degraded = [] } = conclusion
  return (
    <>
      {abstained && (
        <p class='notice'>
          <strong>Abstained.</strong>{' '}
          {sources === undefined || sources.length === 0
            ? 'No memory was near enough to the question, so that no model was asked.'
            : 'The memories beside it were looked at, and do not answer the question.'}
        </p>
      )}
      {unverified === true && <p class='notice'><strong>Unverified.</strong> The answer cites none of its sources.</p>}
      {truncated === true && <p class='notice'><strong>Truncated.</strong> The answer was cut at its most tokens.</p>}
      {degraded.length > 0 && (
        <p class='notice'>
          <strong>Degraded.</strong> It went without: <SafeText text={degraded.join(', ')} />.
          {degraded.includes('model') && ' The language model could not be had; the answer is sentences of the memories.'}
        </p>
      )}
    </>
  )
}

function Structured ({ value }: { value: Record<string, unknown> }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <>
      <h3>As an object</h3>
      <pre class='reflect-object' tabIndex={0} role='region' aria-label='The answer as an object'>
        <SafeText text={text} shown={4000} />
      </pre>
      <CopyButton text={text} label='Copy the object' what='The object' />
    </>
  )
}

function Figures ({ run: { usage, evidenceMs, totalMs } }: { run: Run }) {
  if (usage === undefined && totalMs === undefined) return null
  return (
    <dl class='facts reflect-figures'>
      {usage !== undefined && (
        <>
          <dt>Tokens</dt>
          <dd>
            {formatNumber(usage.tokens)} ({formatNumber(usage.input_tokens)} of the prompt,{' '}
            {formatNumber(usage.output_tokens)} of the answer)
          </dd>
          <dt>Cost</dt>
          <dd>
            {usage.cost === undefined
              ? 'unknown: the configuration has no price of the model'
              : `${usage.cost.toLocaleString(undefined, { maximumSignificantDigits: 4 })} in the currency of the configured prices`}
          </dd>
        </>
      )}
      {evidenceMs !== undefined && <><dt>Evidence after</dt><dd>{formatMilliseconds(evidenceMs)}</dd></>}
      {totalMs !== undefined && <><dt>All after</dt><dd>{formatMilliseconds(totalMs)}</dd></>}
    </dl>
  )
}
