import { useMemo, useState } from 'preact/hooks'
import { Empty } from '../../components/states.js'
import { changeParams, place } from '../../state/router.js'
import { Answer } from './answer.js'
import { answerPartsOf, citedCounts } from './citations.js'
import { ReflectForm } from './form.js'
import { useLights } from './lights.js'
import './reflect.css'
import { NO_WISHES, requestOf, type Missing, type Wishes } from './request.js'
import { Sources } from './sources.js'
import { isUnderWay, useReflect, type Run } from './use-reflect.js'

export default function ReflectPage () {
  const bank = place.value.params.get('bank') ?? ''
  const [chosen, setChosen] = useState(NO_WISHES)
  const [missing, setMissing] = useState<Missing | undefined>(undefined)
  const { run, ask, cancel } = useReflect()
  const wishes: Wishes = { ...chosen, bank }

  const onChange = ({ bank: nextBank, ...changes }: Partial<Wishes>) => {
    setMissing(undefined)
    if (nextBank !== undefined) changeParams({ bank: nextBank === '' ? null : nextBank })
    setChosen((old) => ({ ...old, ...changes }))
  }
  const onAsk = () => {
    const made = requestOf(wishes)
    setMissing('missing' in made ? made.missing : undefined)
    if ('request' in made) void ask(made.request)
  }
  return (
    <>
      <ReflectForm
        wishes={wishes} onChange={onChange} onAsk={onAsk} onCancel={cancel} isBusy={isUnderWay(run)} missing={missing}
      />
      {run === undefined
        ? (
          <Empty title='Ask something that the memories of a bank can answer.'>
            <p>The answer comes sentence by sentence. Its marks, such as [1], name the memories that it rests on.</p>
          </Empty>
          )
        : <Outcome run={run} />}
    </>
  )
}

function Outcome ({ run }: { run: Run }) {
  const { box, lights } = useLights()
  const { text, sources } = run
  const parts = useMemo(() => answerPartsOf(text, sources?.length ?? 0), [text, sources])
  const cited = useMemo(() => citedCounts(parts), [parts])
  return (
    <div ref={box} class='reflect-outcome'>
      <Answer run={run} parts={parts} lights={lights} />
      {sources !== undefined && <Sources sources={sources} cited={cited} lights={lights} />}
    </div>
  )
}
