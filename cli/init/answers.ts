import { AUTH_MODES, type AuthMode } from '../../lib/config/config.js'

const AUTH_MEANINGS: Record<AuthMode, string> = {
  dev: 'not at all: only for use on this machine',
  api_key: 'one key for all, and the name of the caller',
  jwt_hs256: 'tokens signed with a shared secret',
  jwt_oidc: 'tokens of an identity provider',
}

/** One question, its answers, and what each means. The first answer is the default. */
export interface Question {
  key: string
  flag: string
  text: string
  choices: ReadonlyArray<readonly [value: string, meaning: string]>
}

export const QUESTIONS = [
  {
    key: 'store',
    flag: '--store <name>',
    text: 'Where are memories kept?',
    choices: [
      ['pglite', 'in a folder of this machine'], ['postgres', 'in a PostgreSQL database with pgvector'],
      ['in_memory', 'in memory only: they are lost when the process ends'],
    ],
  },
  {
    key: 'embeddings',
    flag: '--embeddings <name>',
    text: 'How are memories found?',
    choices: [
      ['local', 'by words and meaning, with a model on this machine (English)'],
      ['openai_compatible', 'by words and meaning, with an endpoint that speaks the OpenAI API'],
      ['mock', 'by words alone'],
    ],
  },
  {
    key: 'llm',
    flag: '--llm <name>',
    text: 'What answers questions (reflect)?',
    choices: [
      ['mock', 'sentences of the memories themselves'], ['openai_compatible', 'a model behind the OpenAI API'],
      ['anthropic', 'an Anthropic model'],
    ],
  },
  {
    key: 'auth',
    flag: '--auth <mode>',
    text: 'How do callers prove who they are?',
    choices: AUTH_MODES.map((mode) => [mode, AUTH_MEANINGS[mode]] as const),
  },
  {
    key: 'access',
    flag: '--access <switch>',
    text: 'Does each caller have banks of their own?',
    choices: [
      ['off', 'everybody may use every bank'], ['on', 'user:ada may use the bank user-ada, and what grants allow'],
    ],
  },
] as const satisfies readonly Question[]

type ValueOf<Q extends Question> = Q['choices'][number][0]

/** The answers from which a new configuration is made; `data` is the folder of pglite. */
export type InitAnswers = { data: string } & { [Q in typeof QUESTIONS[number] as Q['key']]: ValueOf<Q> }
