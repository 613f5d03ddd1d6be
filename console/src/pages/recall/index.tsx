import type { Hit, RecallAnswer } from 'memory-gateway-client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { NoBank } from '../../components/bank-choice.js'
import { Field } from '../../components/field.js'
import { DraftInput } from '../../components/draft-input.js'
import { FirstCall } from '../../components/first-call.js'
import { MissingPermission, useReadable } from '../../components/permission.js'
import { EmptyState, Failure, Loading } from '../../components/states.js'
import { announce } from '../../state/announcer.js'
import { currentBank } from '../../state/current-bank.js'
import { changeParams, route } from '../../state/router.js'
import { client } from '../../state/session.js'
import { bankIdsIn, INVALID_BANK_ID, isBankId } from '../../text/bank-id.js'
import { formatCount } from '../../text/format.js'
import { parseMetadata } from '../../text/metadata.js'
import '../memories/memories.css'
import { SearchSettings } from './search-settings.js'
import { extentOf, contributionNames, contributionsOf } from './contributions.js'
import './recall.css'
import { Results } from './results.js'
import { DEFAULTS, recallRequest, type Settings } from './settings.js'
import { Legend } from './stacked-bar.js'
import { ExplainForm } from './explain-form.js'

interface Outcome {
  answers: RecallAnswer[]
  error: unknown
  isLoading: boolean
}

const NO_OUTCOME: Outcome = { answers: [], error: undefined, isLoading: false }
const TITLES = ['A', 'B'] as const

export default function RecallPage () {
  const { params } = route.value
  const moreBanks = params.get('more') ?? ''
  const bankText = `${currentBank.value} ${moreBanks}`
  const banks = bankIdsIn(bankText)
  const [query, setQuery] = useState('')
  const [settings, setSettings] = useState<[Settings, Settings]>([DEFAULTS, DEFAULTS])
  const [isComparing, setIsComparing] = useState(false)
  const [outcome, setOutcome] = useState(NO_OUTCOME)
  const [requested, setRequested] = useState({ id: params.get('why') ?? '', count: 0, setting: 0 })
  const controller = useRef<AbortController | undefined>(undefined)
  const [first, second] = settings
  const usedSettings = isComparing ? [first, second] : [first]
  const isValid = usedSettings.every(({ metadata }) => parseMetadata(metadata).error === undefined)
  const { mayRead, isEmpty } = useReadable(currentBank.value)
  const canRun = mayRead && banks.length > 0 && banks.every(isBankId) && query.trim() !== '' && isValid

  const run = async () => {
    controller.current?.abort()
    const { signal } = controller.current = new AbortController()
    setOutcome({ ...NO_OUTCOME, isLoading: true })
    const answers: RecallAnswer[] = []
    try {
      // One after the other, so that neither slows the other down and the durations can be compared.
      for (const one of usedSettings) {
        answers.push(await client.value.recall(recallRequest(banks, query, one), { signal }))
      }
      if (signal.aborted) return
      setOutcome({ ...NO_OUTCOME, answers })
      announce(answers.map(({ hits }) => formatCount(hits.length, 'hit')).join(' and '))
    } catch (error) {
      // The answer of Setting A stays when Setting B is refused.
      if (!signal.aborted) setOutcome({ ...NO_OUTCOME, answers, error })
    }
  }
  // Results from other banks are discarded.
  useEffect(() => {
    setOutcome(NO_OUTCOME)
    return () => { controller.current?.abort() }
  }, [bankText])
  const parts = outcome.answers.flatMap(({ hits }) => hits.map(contributionsOf))
  const names = contributionNames(parts)
  const extent = extentOf(parts)
  const [onlyBank] = banks
  const onExplain = banks.length === 1
    ? ({ memory_id: id }: Hit, setting: number) => { setRequested(({ count }) => ({ id, count: count + 1, setting })) }
    : undefined
  const answered = outcome.answers.map((answer, index) => ({ answer, title: `Setting ${TITLES[index] ?? ''}` }))

  if (!isBankId(currentBank.value)) return <NoBank />
  return (
    <>
      <form
        class='card' onSubmit={(event) => {
          event.preventDefault()
          if (canRun) void run()
        }}
      >
        <div class='recall-form'>
          <div class='field'>
            <label for='recall-query'>Query</label>
            <textarea
              id='recall-query' class='recall-query' rows={2} value={query}
              onInput={({ currentTarget }) => { setQuery(currentTarget.value) }}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || event.shiftKey || !canRun) return
                event.preventDefault()
                event.currentTarget.form?.requestSubmit()
              }}
            />
          </div>
          <Field
            label='More banks' hint='Searched too; separated by commas.'
            error={bankIdsIn(moreBanks).every(isBankId) ? undefined : INVALID_BANK_ID}
          >
            {(attributes) => (
              <DraftInput
                {...attributes} value={moreBanks} onChange={(more) => { changeParams({ more, why: null }) }}
              />
            )}
          </Field>
        </div>
        <div class={isComparing ? 'recall-columns two' : 'recall-columns'}>
          <SearchSettings title='Setting A' settings={first} onChange={(one) => { setSettings([one, second]) }} />
          {isComparing &&
            <SearchSettings title='Setting B' settings={second} onChange={(one) => { setSettings([first, one]) }} />}
        </div>
        <div class='actions'>
          <button
            type='submit' class='primary' {...(mayRead
              ? { disabled: !canRun }
              // Not `disabled`: such a button has no focus, so that a keyboard would not lead to the reason.
              : { 'aria-disabled': true, 'aria-describedby': 'needs-read' })}
          >
            Recall
          </button>
          <label class='check recall-compare'>
            <input
              type='checkbox' checked={isComparing} onChange={({ currentTarget }) => {
                controller.current?.abort()
                setIsComparing(currentTarget.checked)
                setSettings([first, first])
                setOutcome(({ answers }) => ({ ...NO_OUTCOME, answers: answers.slice(0, 1) }))
              }}
            />
            Compare with a second setting
          </label>
        </div>
        {!mayRead && <MissingPermission id='needs-read' permission='read' action='search it' />}
      </form>
      {mayRead && answered.length === 0 && outcome.error === undefined && !outcome.isLoading && (isEmpty
        ? <FirstCall title='This bank is empty, or does not exist yet.' bank={currentBank.value} />
        : (
          <EmptyState title='Enter a query.'>
            <p>Each memory that is found shows how it was found, and what its score consists of.</p>
            <p>The form below shows why another memory was not found.</p>
          </EmptyState>
          ))}
      {outcome.isLoading && <Loading label='Recalling' />}
      {outcome.error !== undefined && <Failure error={outcome.error} retry={() => { void run() }} />}
      {answered.length > 0 && <Legend names={names} />}
      <div class={answered.length > 1 ? 'recall-columns two' : 'recall-columns'}>
        {answered.map(({ answer, title }, index) => (
          <Results
            key={title} title={title} answer={answer} other={answered[1 - index]} names={names}
            extent={extent} showsBank={banks.length > 1}
            onExplain={onExplain === undefined ? undefined : (hit) => { onExplain(hit, index) }}
          />
        ))}
      </div>
      {banks.length > 1
        ? <p class='hint'>Why a memory was not found is shown for one bank at a time.</p>
        : mayRead && !isEmpty &&
          <ExplainForm bank={onlyBank ?? ''} query={query} settings={usedSettings} requested={requested} />}
    </>
  )
}
