import type { Hit, RecallAnswer } from 'memory-gateway-client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { BankField } from '../../components/bank-field.js'
import { Empty, Failure, Loading } from '../../components/states.js'
import { announce } from '../../state/announcer.js'
import { changeParams, place } from '../../state/router.js'
import { client } from '../../state/session.js'
import { formatCount } from '../../text/format.js'
import { readMetadata } from '../../text/metadata.js'
import '../memories/memories.css'
import { Knobs } from './knobs.js'
import { extentOf, namesOf, partsOf } from './parts.js'
import './recall.css'
import { Results } from './results.js'
import { DEFAULTS, recallRequest, type Settings } from './settings.js'
import { Legend } from './stacked-bar.js'
import { WhyNot } from './why-not.js'

interface Outcome {
  answers: RecallAnswer[]
  error: unknown
  isLoading: boolean
}

const NOTHING: Outcome = { answers: [], error: undefined, isLoading: false }
const TITLES = ['A', 'B'] as const

/** Banks are separated by spaces or commas, which no id has. */
function banksOf (text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((id) => id !== ''))]
}

export default function RecallPage () {
  const { params } = place.value
  const bankText = params.get('bank') ?? ''
  const banks = banksOf(bankText)
  const [query, setQuery] = useState('')
  const [settings, setSettings] = useState<[Settings, Settings]>([DEFAULTS, DEFAULTS])
  const [isComparing, setIsComparing] = useState(false)
  const [outcome, setOutcome] = useState(NOTHING)
  const [asked, setAsked] = useState({ id: params.get('why') ?? '', round: 0, setting: 0 })
  const controller = useRef<AbortController | undefined>(undefined)
  const [first, second] = settings
  const used = isComparing ? [first, second] : [first]
  const isValid = used.every(({ metadata }) => readMetadata(metadata).error === undefined)
  const canRun = banks.length > 0 && query.trim() !== '' && isValid

  const run = async () => {
    controller.current?.abort()
    const { signal } = controller.current = new AbortController()
    setOutcome({ ...NOTHING, isLoading: true })
    try {
      const answers: RecallAnswer[] = []
      // One after the other, so that neither waits for the other and the times can be compared.
      for (const one of used) answers.push(await client.value.recall(recallRequest(banks, query, one), { signal }))
      if (signal.aborted) return
      setOutcome({ ...NOTHING, answers })
      announce(answers.map(({ hits }) => formatCount(hits.length, 'hit')).join(' and '))
    } catch (error) {
      if (!signal.aborted) setOutcome({ ...NOTHING, error })
    }
  }
  // Results from other banks are not valid for these.
  useEffect(() => {
    setOutcome(NOTHING)
    return () => { controller.current?.abort() }
  }, [bankText])
  const parts = outcome.answers.flatMap(({ hits }) => hits.map(partsOf))
  const names = namesOf(parts)
  const extent = extentOf(parts)
  const [only] = banks
  const onWhy = banks.length === 1
    ? ({ memory_id: id }: Hit, setting: number) => { setAsked(({ round }) => ({ id, round: round + 1, setting })) }
    : undefined
  const answered = outcome.answers.map((answer, index) => ({ answer, title: `Setting ${TITLES[index] ?? ''}` }))

  return (
    <>
      <form
        class='card' onSubmit={(event) => {
          event.preventDefault()
          if (canRun) void run()
        }}
      >
        <div class='recall-ask'>
          <BankField label='Bank (several: with commas)' value={bankText} onChange={(bank) => { changeParams({ bank, why: null }) }} />
          <div class='field'>
            <label for='recall-query'>Query</label>
            <textarea
              id='recall-query' class='recall-query' rows={2} value={query} maxLength={8192}
              onInput={({ currentTarget }) => { setQuery(currentTarget.value) }}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || event.shiftKey || !canRun) return
                event.preventDefault()
                event.currentTarget.form?.requestSubmit()
              }}
            />
          </div>
        </div>
        <div class={isComparing ? 'recall-columns two' : 'recall-columns'}>
          <Knobs title='Setting A' settings={first} onChange={(one) => { setSettings([one, second]) }} />
          {isComparing && <Knobs title='Setting B' settings={second} onChange={(one) => { setSettings([first, one]) }} />}
        </div>
        <div class='actions'>
          <button type='submit' class='primary' disabled={!canRun}>Recall</button>
          <label class='check recall-compare'>
            <input
              type='checkbox' checked={isComparing} onChange={({ currentTarget }) => {
                controller.current?.abort()
                setIsComparing(currentTarget.checked)
                setSettings([first, first])
                setOutcome(({ answers }) => ({ ...NOTHING, answers: answers.slice(0, 1) }))
              }}
            />
            Compare with a second setting
          </label>
        </div>
      </form>
      {answered.length === 0 && outcome.error === undefined && !outcome.isLoading && (
        <Empty title='Ask what an agent would ask.'>
          <p>Each hit is shown with what put it in its place, and of any other memory why it is not among them.</p>
        </Empty>
      )}
      {outcome.isLoading && <Loading what='Recalling' />}
      {outcome.error !== undefined && <Failure error={outcome.error} retry={() => { void run() }} />}
      {answered.length > 0 && <Legend names={names} />}
      <div class={answered.length > 1 ? 'recall-columns two' : 'recall-columns'}>
        {answered.map(({ answer, title }, index) => (
          <Results
            key={title} title={title} answer={answer} other={answered[1 - index]} names={names}
            extent={extent} showsBank={banks.length > 1}
            onWhy={onWhy === undefined ? undefined : (hit) => { onWhy(hit, index) }}
          />
        ))}
      </div>
      {banks.length > 1
        ? <p class='hint'>“Why not this one?” is told of one bank at a time.</p>
        : <WhyNot bank={only ?? ''} query={query} settings={used} asked={asked} />}
    </>
  )
}
