import { useMemo, useState } from 'preact/hooks'
import { NoBank } from '../../components/bank-choice.js'
import { FirstCall } from '../../components/first-call.js'
import { useReadable } from '../../components/permission.js'
import { useLeaveGuard } from '../../components/question-dialog.js'
import { EmptyState } from '../../components/states.js'
import { currentBank } from '../../state/current-bank.js'
import { isBankId } from '../../text/bank-id.js'
import { Answer } from './answer.js'
import { answerPartsOf } from './citations.js'
import { ReflectForm } from './form.js'
import { useHighlighting } from './use-highlighting.js'
import './reflect.css'
import { EMPTY_FORM, requestOf, type RequiredField, type ReflectFormValues } from './request.js'
import { Sources } from './sources.js'
import { isRunning, useReflect, type Run } from './use-reflect.js'

const STOP_QUESTION = {
  title: 'Stop the answer?', loss: 'The answer is not complete yet.', discard: 'Stop', keep: 'Continue',
}

export default function ReflectPage () {
  const bank = currentBank.value
  const [formValues, setFormValues] = useState(EMPTY_FORM)
  const [missing, setMissing] = useState<RequiredField | undefined>(undefined)
  const { run, ask, cancel } = useReflect()
  const { mayRead, isEmpty } = useReadable(bank)
  const values: ReflectFormValues = { ...formValues, bank }
  useLeaveGuard(isRunning(run), STOP_QUESTION, 'page')

  const onChange = (changes: Partial<Omit<ReflectFormValues, 'bank'>>) => {
    setMissing(undefined)
    setFormValues((old) => ({ ...old, ...changes }))
  }
  const onAsk = () => {
    if (!mayRead) return
    const result = requestOf(values)
    setMissing('missing' in result ? result.missing : undefined)
    if ('request' in result) void ask(result.request)
  }
  if (!isBankId(bank)) return <NoBank />
  return (
    <>
      <ReflectForm
        values={values} onChange={onChange} onAsk={onAsk} onCancel={cancel} isBusy={isRunning(run)} missing={missing}
        mayRead={mayRead}
      />
      {run !== undefined && <Outcome run={run} />}
      {run === undefined && mayRead && (isEmpty
        ? <FirstCall title='This bank is empty, or does not exist yet.' bank={bank} />
        : (
          <EmptyState title='Ask something that the memories of the bank can answer.'>
            <p>The answer appears sentence by sentence. Marks such as [1] name the memories that it stands on.</p>
          </EmptyState>
          ))}
    </>
  )
}

function Outcome ({ run }: { run: Run }) {
  const { container, highlighting } = useHighlighting()
  const { text, cited, others } = run
  const parts = useMemo(() => answerPartsOf(text, cited.length), [text, cited])
  return (
    <div ref={container} class='reflect-outcome'>
      <Answer run={run} parts={parts} highlighting={highlighting} />
      {others !== undefined && (
        <Sources cited={cited} others={others} parts={parts} phase={run.phase} highlighting={highlighting} />
      )}
    </div>
  )
}
