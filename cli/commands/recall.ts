import { numberOf, recordOf, recordsOf, textOf, textsOf, type Answer } from '../answers.js'
import { columns, note, writeJson, writeLine } from '../output.js'
import { filtersOf, scopeOf, withServer, type FilterOptions, type ServerOptions } from '../server-command.js'
import { withoutUndefined } from '../../lib/base/members.js'

interface RecallOptions extends ServerOptions, FilterOptions {
  maxResults?: number
  maxTokens?: number
  minScore?: number
  explain?: boolean
}

export async function recall (bank: string, query: string, options: RecallOptions): Promise<void> {
  const { maxResults, maxTokens, minScore, explain } = options
  await withServer(options, async (gateway, call) => {
    const answer = await gateway.recall({
      query,
      ...scopeOf(bank),
      ...filtersOf(options),
      ...withoutUndefined({ max_results: maxResults, max_tokens: maxTokens, min_score: minScore, explain }),
    }, call)
    if (options.json === true) return await writeJson(answer)
    const hits = recordsOf(answer['hits'])
    for (const hit of hits) await writeLine(hitLines(hit).join('\n'))
    if (explain === true) for (const line of traceLines(recordOf(answer['trace']))) await writeLine(line)
    const degraded = textsOf(answer['degraded'])
    if (degraded.length > 0) note(`the answer is degraded; missing: ${degraded.join(', ')}`)
    note(`${hits.length} of ${numberOf(answer['total_available']) ?? hits.length} ` +
      `memories${answer['truncated'] === true ? ', cut off by --max-tokens' : ''}`)
  })
}

/** A hit for people: score, when, who and what, and below them where it comes from. */
export function hitLines (hit: Answer): string[] {
  const facts = [
    textOf(hit['bank_id']), textOf(hit['memory_id']),
    labelled('tags', textsOf(hit['tags']).join(', ')),
    labelled('source', textOf(hit['source'])), labelled('document', textOf(hit['document_id'])),
  ].filter((fact) => fact !== undefined && fact !== '')
  const text = said(hit).replaceAll('\n', '\n      ')
  return [
    `${(numberOf(hit['score']) ?? 0).toFixed(2)}  ${text}`,
    `      ${facts.join('  ')}`,
    ...scoreLines(recordOf(hit['scores'])),
  ]
}

/** When, who and what. */
export function said (memory: Answer): string {
  const date = (textOf(memory['occurred_at']) ?? textOf(memory['retained_at']))?.slice(0, 10)
  const first = [date, textOf(memory['speaker'])].filter((part) => part !== undefined).join(', ')
  return `${first}: ${textOf(memory['text']) ?? ''}`
}

function labelled (label: string, value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : `${label}: ${value}`
}

function scoreLines (scores: Answer): string[] {
  return Object.entries(scores).map(([strategy, found]) => {
    if (typeof found === 'number') return `      ${strategy}: ${round(found)}`
    const { rank, score, ...rest } = recordOf(found)
    const place = [
      ...(typeof rank === 'number' ? [`rank ${rank}`] : []),
      ...(typeof score === 'number' ? [`score ${round(score)}`] : []),
    ]
    const added = Object.entries(rest).map(([name, value]) => (
      `${name} ${typeof value === 'number' ? round(value) : String(value)}`
    ))
    return `      ${strategy}: ${[...place, ...added].join(', ')}`
  })
}

function traceLines (trace: Answer): string[] {
  const stages = recordsOf(trace['stages']).map((stage) => [
    textOf(stage['name']) ?? '', `${(numberOf(stage['duration_ms']) ?? 0).toFixed(1)} ms`,
  ])
  const strategies = recordsOf(trace['strategies']).map((found) => (
    [
      textOf(found['name']) ?? '', `weight ${numberOf(found['weight']) ?? 0}`,
      `${numberOf(found['candidates']) ?? 0} candidates`,
    ]
  ))
  return ['', ...columns(stages), ...columns(strategies)]
}

function round (value: number): string {
  return String(Math.round(value * 10_000) / 10_000)
}
