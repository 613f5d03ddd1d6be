import type { Hit, ReflectEvent, ReflectRequest } from 'memory-gateway-client'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../../state/announcer.js'
import { client } from '../../state/session.js'
import { formatCount } from '../../text/format.js'

type DataOf<Name extends ReflectEvent['event']> = Extract<ReflectEvent, { event: Name }>['data']

/** The progress of an answer. */
export interface Run {
  phase: 'searching' | 'answering' | 'done' | 'failed' | 'cancelled'
  /** What the answer cites, in the order of its marks; empty until it is complete, because the marks point to none. */
  cited: readonly Hit[]
  /** The rest of the evidence, in the order of the ranking. */
  others: readonly Hit[] | undefined
  /** The part of the answer that has arrived. */
  text: string
  usage: DataOf<'usage'> | undefined
  result: DataOf<'done'> | undefined
  error: unknown
  /** Whether an object was requested besides the text. */
  hasSchema: boolean
  /** Milliseconds until the evidence arrived, and until the end. */
  evidenceMs: number | undefined
  totalMs: number | undefined
}

const INITIAL_RUN: Run = {
  phase: 'searching',
  cited: [],
  others: undefined,
  text: '',
  usage: undefined,
  result: undefined,
  error: undefined,
  hasSchema: false,
  evidenceMs: undefined,
  totalMs: undefined,
}

export function isRunning (run: Run | undefined): boolean {
  return run?.phase === 'searching' || run?.phase === 'answering'
}

function applyEvent (run: Run, { event, data }: ReflectEvent, elapsedMs: number): Run {
  switch (event) {
    case 'evidence': return { ...run, phase: 'answering', others: data.sources, evidenceMs: elapsedMs }
    case 'delta': return { ...run, text: run.text + data.text }
    case 'usage': return { ...run, usage: data }
    case 'done': {
      // An abstention has no sources: what was examined stays.
      const others = data.abstained ? run.others : data.sources.filter(({ cited }) => !cited)
      const cited = data.sources.filter((source) => source.cited)
      return { ...run, phase: 'done', text: data.answer, cited, others, result: data, totalMs: elapsedMs }
    }
  }
}

/**
 * Sends a question and reports the progress of its answer. A new question, or leaving the page, ends the previous one.
 */
export function useReflect () {
  const [run, setRun] = useState<Run | undefined>(undefined)
  const controller = useRef<AbortController | undefined>(undefined)
  const pendingQuestion = useRef<string | undefined>(undefined)
  useEffect(() => () => { controller.current?.abort() }, [])

  const ask = useCallback(async (request: ReflectRequest) => {
    const question = JSON.stringify(request)
    // A double click would cost two answers of the model.
    if (pendingQuestion.current === question) return
    pendingQuestion.current = question
    controller.current?.abort()
    const current = new AbortController()
    controller.current = current
    const begin = performance.now()
    const update = (next: (run: Run) => Run) => {
      if (controller.current === current) setRun((old) => old === undefined ? old : next(old))
    }
    setRun({ ...INITIAL_RUN, hasSchema: request.response_schema !== undefined })
    announce('Searching the memories')
    try {
      const withAll: ReflectRequest = { ...request, include_sources: 'all' }
      for await (const event of client.value.reflectStream(withAll, { signal: current.signal })) {
        update((old) => applyEvent(old, event, performance.now() - begin))
        if (event.event === 'evidence') {
          const { length } = event.data.sources
          announce(`${formatCount(length, 'memory fits', 'memories fit')} the question; writing the answer`)
        }
        if (event.event === 'done') {
          announce(event.data.abstained ? 'The memories do not answer the question' : 'The answer is complete')
        }
      }
    } catch (error) {
      const totalMs = performance.now() - begin
      const phase = current.signal.aborted ? 'cancelled' : 'failed'
      update((old) => ({ ...old, phase, totalMs, ...(phase === 'failed' && { error }) }))
    } finally {
      if (controller.current === current) pendingQuestion.current = undefined
    }
  }, [])

  const cancel = useCallback(() => {
    controller.current?.abort()
    pendingQuestion.current = undefined
    announce('Cancelled')
  }, [])

  return { run, ask, cancel }
}
