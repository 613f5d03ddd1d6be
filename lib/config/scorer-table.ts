/**
 * The scorers of recall (lib/ranking/scoring/scorers.ts) with their default weights, relative to a lexical weight of
 * 1. docs/recall-quality.md has their origin and their effect.
 */
export const SCORER_TABLE = {
  match: { weight: 0.5, about: 'The lexical score, relative to the highest that the query could reach.' },
  phrase: { weight: 0.2, about: 'Adjacent words of the query that are adjacent in the memory.' },
  document: {
    weight: 0.3, about: 'The sum of the best matches of the same document, relative to the best document found.',
  },
  document_best: {
    weight: 0.2,
    about: 'The best match in the same document, by the words of the memory alone, relative to the best ' +
      'document found.',
  },
  document_meaning: {
    weight: 0.3,
    about: 'The sum of the best semantic matches in the same document, relative to the best document found.',
  },
  question_meaning: {
    weight: 0.2,
    about: 'The previous candidate of the same document asks a question that is semantically close to the query. Not ' +
      'for turns of an assistant, which answer all questions.',
  },
  speaker: { weight: 0.5, about: 'The query names the speaker.' },
  speaker_self: { weight: 0.15, about: 'The query names the speaker, who talks about themselves.' },
  user_said: {
    weight: 0.7,
    about: 'The speaker is the user (`metadata.speaker`). Full weight for a query that asks for advice; half for a ' +
      'short query with I, my or we; a quarter for one that asks how I or we did something; none for one about what ' +
      'the assistant said.',
  },
  assistant_said: {
    weight: 0.6,
    about: 'The speaker is the assistant (`metadata.speaker`), and the query asks what the assistant said, or how I ' +
      'or we did or planned something.',
  },
  date: {
    weight: 1.5,
    about: 'Closeness to a time that the query names. Two fifths of it for a query about the present or the future ' +
      '(`Is the gym open today?`), which memories of any time may answer.',
  },
  time_told: {
    weight: 0.2,
    about: 'The memory contains a time, and the query asks for one, for a number of days, weeks, months or years, or ' +
      'for what was first or last.',
  },
  quantity_told: {
    weight: 0.2,
    about: 'The speaker is the user (`metadata.speaker`) and tells a number, and a short query asks for one (how ' +
      'many, how much, what price …), but not how many different things there are.',
  },
  name_told: { weight: 0.4, about: 'The memory contains names, and the query asks for a name or a place.' },
  details: {
    weight: 0.3,
    about: 'The memory is a short turn of a conversation without user and assistant and contains a time or names. ' +
      'Not in notes and articles: where hardly any candidate in a document asks something.',
  },
  question: { weight: -0.2, about: 'The memory is a short question.' },
  instruction: {
    weight: 0.5,
    about: 'The memory is a short turn of the user (`metadata.speaker`) that tells the assistant how to act from ' +
      'then on (`Always use metric units`, `… when I ask for a recipe`), is trusted and shares a word with a short ' +
      'query that is not about what the assistant said. All such turns together are raised by at most twice the ' +
      'weight.',
  },
  preference: {
    weight: 0.6,
    about: 'The user (`metadata.speaker`) states a preference (`I prefer …`, `my favourite …`), and the query asks ' +
      'for advice or what I or we should do.',
  },
  reaction: {
    weight: -0.1,
    about: 'The memory is a turn of fewer than 50 words, without stop words, that starts with a reaction: thanks, ' +
      'praise, agreement or a greeting.',
  },
} as const satisfies Record<string, { weight: number, about: string }>
