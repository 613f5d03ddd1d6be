import { useEffect, useRef, useState } from 'preact/hooks'
import type { ExplainRecallAnswer, Memory } from 'memory-gateway-client'
import { Dialog } from '../../components/dialog.js'
import { Field } from '../../components/field.js'
import { SafeText } from '../../components/safe-text.js'
import { Said } from '../../components/said.js'
import { Failure, Loading } from '../../components/states.js'
import { client } from '../../state/session.js'
import { isBankId } from '../../text/bank-id.js'
import { listRequest, NO_FILTERS } from '../memories/filters.js'
import { MemoryList } from '../memories/memory-list.js'
import { useMemoryRows } from '../memories/use-memory-rows.js'
import { Explanation } from './explanation.js'
import { unsupportedByExplain, explainRequest, type Settings } from './settings.js'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface Props {
  bank: string
  query: string
  /** Settings A, and B if two are compared. */
  settings: readonly Settings[]
  /** A request by another component: the memory, the index of the settings, and a counter, 0 without a request. */
  requested: { id: string, count: number, setting: number }
}

interface State { answer?: ExplainRecallAnswer, memory?: Memory | undefined, error?: unknown, isLoading: boolean }

/** A form that explains why a recall returns one memory or does not. */
export function ExplainForm ({ bank, query, settings, requested }: Props) {
  const [id, setId] = useState(requested.id)
  const [state, setState] = useState<State>({ isLoading: false })
  const [chosen, setChosen] = useState(0)
  const [isPickerOpen, setIsPickerOpen] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)
  const controller = useRef<AbortController | undefined>(undefined)
  const isId = UUID.test(id.trim())
  const canExplain = isId && query.trim() !== '' && isBankId(bank)
  const index = Math.min(chosen, settings.length - 1)
  const explain = async (memory: string, setting = settings[index]) => {
    if (setting === undefined) return
    // A late answer for an earlier memory would be shown for this one.
    controller.current?.abort()
    const { signal } = controller.current = new AbortController()
    setState({ isLoading: true })
    try {
      const answer = await client.value.explainRecall(explainRequest(bank, query, memory.trim(), setting), { signal })
      const found = await memoryOf(bank, answer, signal)
      if (!signal.aborted) setState({ answer, memory: found, isLoading: false })
    } catch (error) {
      if (!signal.aborted) setState({ error, isLoading: false })
    }
  }
  useEffect(() => {
    setState({ isLoading: false })
    return () => { controller.current?.abort() }
  }, [bank])
  useEffect(() => {
    setId(requested.id)
    if (requested.count === 0) return
    setChosen(requested.setting)
    heading.current?.focus()
    void explain(requested.id, settings[requested.setting])
  }, [requested.id, requested.count])
  const unsupported = settings[index] === undefined ? [] : unsupportedByExplain(settings[index])
  return (
    <section class='card' aria-labelledby='explain'>
      <h2 id='explain' ref={heading} tabIndex={-1}>Why was it not found?</h2>
      <p>Choose a memory, and each step of the search says what became of it: found, ranked too low, or left out.</p>
      <form onSubmit={(event) => {
        event.preventDefault()
        if (canExplain) void explain(id)
      }}
      >
        <Field
          label='Id of a memory' hint='It is looked for with the query above.'
          error={id !== '' && !isId ? 'This is not the id of a memory.' : undefined}
        >
          {(attributes) => (
            <input
              {...attributes} value={id} autocomplete='off' spellcheck={false}
              onInput={({ currentTarget }) => { setId(currentTarget.value) }}
            />
          )}
        </Field>
        {settings.length > 1 && (
          <Field label='With the settings of'>
            {(attributes) => (
              <select
                {...attributes} value={String(index)}
                onChange={({ currentTarget }) => { setChosen(Number(currentTarget.value)) }}
              >
                <option value='0'>Setting A</option>
                <option value='1'>Setting B</option>
              </select>
            )}
          </Field>
        )}
        <div class='actions'>
          <button type='submit' disabled={!canExplain}>Explain</button>
          <button
            type='button'
            disabled={!isBankId(bank)}
            onClick={() => { setIsPickerOpen(true) }}
          >
            Choose from the list…
          </button>
        </div>
      </form>
      {unsupported.length > 0 &&
        <p class='hint'>This leaves out {unsupported.join(', ')}: it tells what a recall without does.</p>}
      {state.isLoading && <Loading label='Explaining' />}
      {state.error !== undefined && <Failure error={state.error} />}
      {state.memory !== undefined && (
        <blockquote class='recall-explained'>
          <Said memory={state.memory} /><br />
          <SafeText text={state.memory.text} truncateAt={240} />
        </blockquote>
      )}
      {state.answer !== undefined && <Explanation answer={state.answer} />}
      <Dialog title='Choose a memory' isOpen={isPickerOpen} onClose={() => { setIsPickerOpen(false) }}>
        <MemoryPicker
          bank={bank} onPick={(memoryId) => {
            setIsPickerOpen(false)
            setId(memoryId)
            if (query.trim() !== '') void explain(memoryId)
          }}
        />
      </Dialog>
    </section>
  )
}

/** The memory, because an id tells the user nothing. Undefined when it does not exist. */
async function memoryOf (
  bank: string, { memory_id: id, verdict }: ExplainRecallAnswer, signal: AbortSignal,
): Promise<Memory | undefined> {
  if (verdict === 'not_in_bank') return undefined
  try {
    return await client.value.getMemory({ bank_id: bank, memory_id: id }, { signal })
  } catch {
    // It may have been forgotten meanwhile; the explanation is shown without it.
    return undefined
  }
}

function MemoryPicker ({ bank, onPick }: { bank: string, onPick: (id: string) => void }) {
  const rows = useMemoryRows(listRequest(bank, NO_FILTERS, undefined))
  return <MemoryList label='Memories to choose from' rows={rows} onChoose={onPick} />
}
