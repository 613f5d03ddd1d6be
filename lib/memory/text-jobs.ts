import { runSync } from '../concurrency/steps.js'
import { passageSteps } from '../retrieval/passages.js'
import type { Passage } from '../stores/vector-store.js'
import { packTerms, type PackedForm } from '../text/packed-terms.js'
import { inspectionSteps, type InspectedMemory, type Inspection } from './inspection.js'

/** Work on texts that a thread does; it survives structured cloning, as its results do. */
export type TextJob =
  | { kind: 'inspect', memories: readonly InspectedMemory[] }
  | { kind: 'split', texts: readonly string[], maxCharacters: number }

/** A passage with terms in a form that survives structured cloning. */
export type ClonedPassage = Omit<Passage, 'terms'> & { terms: PackedForm }

/** The result for each memory or text of a job, in order. */
export type TextJobResults = Inspection[] | ClonedPassage[][]

/** Does the whole work at once; for threads without other work. */
export function runTextJob (job: TextJob): TextJobResults {
  if (job.kind === 'inspect') return job.memories.map((memory) => runSync(inspectionSteps(memory)))
  return job.texts.map((text) => runSync(passageSteps(text, job.maxCharacters)).map(({ terms, ...passage }) => ({
    ...passage, terms: packTerms(terms),
  })))
}
