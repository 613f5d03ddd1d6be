/**
 * The scorers of recall (lib/retrieval/scoring) with their default weights, beside a lexical weight of 1. docs/recall-quality.md tells
 * where they come from and what each is worth.
 */
export const SCORER_TABLE = {
  match: { weight: 0.5, about: 'Share of the best lexical score that the query could reach.' },
  phrase: { weight: 0.2, about: 'Neighbouring words of the query that are neighbours in the memory.' },
  document: { weight: 0.3, about: 'The best matches of the same document taken together, against the best document found.' },
  document_best: { weight: 0.2, about: 'The best match by own words in the same document, against the best document found.' },
  document_meaning: { weight: 0.3, about: 'The nearest in meaning of the same document taken together, against the best document found.' },
  speaker: { weight: 0.5, about: 'The speaker is the one whom the query names.' },
  speaker_self: { weight: 0.15, about: 'The speaker is the one whom the query names, and speaks of themselves.' },
  user_said: { weight: 0.7, about: 'The user speaks (`metadata.speaker`): counts in full for a query that asks for advice, half for one that says I, my or we (a quarter where it asks how that was done), and not at all for one that asks what the assistant told.' },
  assistant_said: { weight: 0.6, about: 'The assistant speaks (`metadata.speaker`): counts for a query that asks what the assistant told, or how the user did or planned something.' },
  date: { weight: 1.5, about: 'Closeness to a time that the query names.' },
  time_told: { weight: 0.2, about: 'Contains a time: counts for a query that asks for one.' },
  name_told: { weight: 0.4, about: 'Contains names: counts for a query that asks for a name or a place.' },
  details: { weight: 0.3, about: 'A short turn of a talk without user and assistant that tells a time or has names.' },
  question: { weight: -0.2, about: 'Is a short question itself.' },
  reaction: { weight: -0.1, about: 'Opens as a reaction: thanks, praise, agreement, a greeting.' },
} as const satisfies Record<string, { weight: number, about: string }>

/** Scorers of earlier versions, and what to do in their place. */
export const REMOVED_SCORERS: Readonly<Record<string, string>> = {
  length: 'retrieval.bm25.pivot says from which length on a text pays for it',
  names: 'name_told counts names where the query asks for one',
  number_told: 'nothing takes its place, for it found nothing',
  own: 'retrieval.context: false ranks by own words alone',
  place_told: 'name_told has its work',
  second_person: 'user_said reads who speaks',
  tells_time: 'time_told counts times where the query asks for one',
}
