/** What the strategies and scorers of recall look at, in words, by their names in the API and the configuration. */
const SCORE_PARTS: Readonly<Record<string, string>> = {
  lexical: 'words in common',
  semantic: 'similar meaning',
  match: 'how many of the words',
  phrase: 'words side by side',
  document: 'the rest of its document',
  document_best: 'the best of its document',
  document_meaning: 'meaning of its document',
  question_meaning: 'answers a similar question',
  speaker: 'the speaker is named',
  speaker_self: 'the speaker about themselves',
  user_said: 'said by the user',
  assistant_said: 'said by the assistant',
  date: 'near the time that is named',
  time_told: 'tells a time',
  quantity_told: 'tells a number',
  name_told: 'tells a name',
  details: 'tells details',
  question: 'is a question itself',
  instruction: 'an instruction of the user',
  preference: 'a preference of the user',
  reaction: 'is only a reaction',
}

/** The steps of a recall, by their names in its trace. */
const STAGES: Readonly<Record<string, string>> = {
  analyze: 'read the query',
  embed: 'compute its meaning',
  search: 'search',
  rank: 'rank',
  rerank: 'rank again',
  budget: 'cut to the limits',
}

/** The parts of a search that are left out when they fail, by their names in `degraded`. */
const SKIPPED_PARTS: Readonly<Record<string, string>> = {
  rewrite: 'other wordings of the question',
  semantic: 'the search by meaning',
  rerank: 'the reranker',
  model: 'the language model',
}

/** A scorer of a newer server has no words here. */
export function scorePartInWords (name: string): string {
  return SCORE_PARTS[name] ?? name
}

export function stageInWords (name: string): string {
  return STAGES[name] ?? name
}

export function skippedInWords (names: readonly string[]): string {
  return names.map((name) => SKIPPED_PARTS[name] ?? name).join(', ')
}
