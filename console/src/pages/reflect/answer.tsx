import { CopyButton } from '../../components/copy-button.js'
import { SafeText } from '../../components/safe-text.js'
import { Failure, Loading } from '../../components/states.js'
import { formatMilliseconds, formatNumber } from '../../text/format.js'
import { skippedInWords } from '../../text/search-words.js'
import type { AnswerPart } from './citations.js'
import type { Highlighting } from './use-highlighting.js'
import { isRunning, type Run } from './use-reflect.js'

const PROGRESS_TEXTS: Partial<Record<Run['phase'], string>> = {
  searching: 'Searching the memories',
  answering: 'Writing the answer',
}

/** The part of the answer that has arrived, with notices about its limits. */
export function Answer (
  { run, parts, highlighting }: { run: Run, parts: readonly AnswerPart[], highlighting: Highlighting },
) {
  const { phase, result, error } = run
  const progressText = PROGRESS_TEXTS[phase]
  const isEmpty = parts.length === 0
  return (
    <section class='card reflect-answer' aria-labelledby='reflect-answer' aria-busy={isRunning(run)}>
      <h2 id='reflect-answer'>Answer</h2>
      <Notices run={run} />
      {!isEmpty &&
        <p class='reflect-text'>{parts.map((part, index) => (
          <AnswerPartView key={index} part={part} highlighting={highlighting} />
        ))}
        </p>}
      {progressText !== undefined && <Loading label={progressText} />}
      {phase === 'cancelled' && (
        <p class='notice'>
          {isEmpty ? 'Cancelled before the answer began.' : 'Cancelled: the answer above is incomplete.'}
        </p>
      )}
      {phase === 'failed' && !isEmpty &&
        <p class='notice'>The answer was interrupted; the text above is incomplete.</p>}
      {phase === 'failed' && <Failure error={error} />}
      {result?.structured !== undefined && <StructuredAnswer value={result.structured} />}
      {run.hasSchema && result !== undefined && result.structured === undefined && (
        <p>There is no object, because there is no answer.</p>
      )}
      <UsageFacts run={run} />
    </section>
  )
}

function AnswerPartView ({ part, highlighting }: { part: AnswerPart, highlighting: Highlighting }) {
  if (typeof part === 'string') return <SafeText text={part} truncateAt={part.length} isExpandable={false} />
  return (
    <button
      type='button' class={highlighting.isHighlighted(part)
        ? 'reflect-citation highlighted'
        : 'reflect-citation'} data-citation={part}
        aria-label={`Source [${part}]`} {...highlighting.handlersOf(part)}
        onClick={() => { highlighting.focusSource(part) }}
    >
      {`[${part}]`}
    </button>
  )
}

/** Notices about the limits of an answer. */
function Notices ({ run: { result, others = [] } }: { run: Run }) {
  if (result === undefined) return null
  const { abstained, unverified, truncated, degraded = [] } = result
  return (
    <>
      {abstained && (
        <p class='notice'>
          <strong>No answer.</strong>{' '}
          {others.length === 0
            ? 'No memory fits the question well enough, so no model was called.'
            : 'The memories below were looked at, and they do not answer the question.'}
        </p>
      )}
      {unverified === true && (
        <p class='notice'>
          <strong>Unverified.</strong> The answer cites no memory, so nothing shows where it comes from.
        </p>
      )}
      {truncated === true &&
        <p class='notice'><strong>Cut.</strong> The answer reached the maximum number of tokens.</p>}
      {degraded.length > 0 && (
        <p class='notice'>
          <strong>Part of the server was not available.</strong> Left out:{' '}
          <SafeText text={skippedInWords(degraded)} />.
          {degraded.includes('model') &&
            ' The answer consists of sentences of the memories instead.'}
        </p>
      )}
    </>
  )
}

function StructuredAnswer ({ value }: { value: Record<string, unknown> }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <>
      <h3>The answer as an object</h3>
      <pre class='reflect-object' tabIndex={0} role='region' aria-label='The answer as an object'>
        <SafeText text={text} truncateAt={4000} />
      </pre>
      <CopyButton text={text} label='Copy the object' subject='The object' />
    </>
  )
}

function UsageFacts ({ run: { usage, evidenceMs, totalMs } }: { run: Run }) {
  if (usage === undefined && totalMs === undefined) return null
  return (
    <dl class='facts reflect-usage'>
      {usage !== undefined && (
        <>
          <dt>Tokens</dt>
          <dd>
            {formatNumber(usage.tokens)} ({formatNumber(usage.input_tokens)} of the prompt,{' '}
            {formatNumber(usage.output_tokens)} of the answer)
          </dd>
          <dt>Cost</dt>
          <dd>{costOf(usage)}</dd>
        </>
      )}
      {evidenceMs !== undefined && (
        <><dt>Memories found after</dt><dd>{formatMilliseconds(evidenceMs)}</dd></>
      )}
      {totalMs !== undefined && <><dt>Total time</dt><dd>{formatMilliseconds(totalMs)}</dd></>}
    </dl>
  )
}

function costOf ({ tokens, cost }: NonNullable<Run['usage']>): string {
  if (cost !== undefined) {
    return `${cost.toLocaleString(undefined, { maximumSignificantDigits: 4 })} in the currency of the configured prices`
  }
  return tokens === 0 ? 'none: no model was called' : 'unknown: the configuration has no price of the model'
}
