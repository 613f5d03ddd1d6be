import neostandard, { plugins } from 'neostandard'

/** The rooms of lib/ and what each may import; lib/README.md tells what lives in them. What stands on `foundation` may use all of it. */
const foundation = ['errors', 'time', 'concurrency', 'telemetry', 'validation', 'providers']

export const rooms = {
  errors: [],
  time: [],
  concurrency: ['errors'],
  telemetry: ['errors'],
  validation: ['errors', 'time', 'concurrency'],
  providers: ['errors', 'validation'],
  text: foundation,
  identity: foundation,
  config: [...foundation, 'identity'],
  access: [...foundation, 'identity'],
  stores: [...foundation, 'identity', 'text'],
  models: [...foundation, 'text'],
  retrieval: [...foundation, 'stores', 'models', 'identity', 'text'],
  policy: [...foundation, 'identity', 'stores', 'config'],
  memory: [...foundation, 'config', 'text', 'identity', 'access', 'stores', 'models', 'retrieval', 'policy'],
  sources: [...foundation, 'config', 'identity', 'memory'],
}

const everyRoom = Object.keys(rooms)

const boundaries = Object.entries(rooms).map(([room, allowed]) => ({
  files: [`lib/${room}/**/*.ts`],
  rules: {
    '@typescript-eslint/no-restricted-imports': ['error', {
      patterns: [
        {
          regex: `^(\\.\\./)+(${everyRoom.filter((other) => other !== room && !allowed.includes(other)).join('|')})/`,
          message: `lib/${room} may import ${allowed.length > 0 ? allowed.map((name) => `lib/${name}`).join(', ') : 'no other room'} and the files of lib itself, nothing above it.`,
        },
        {
          regex: '^(\\.\\./)+(plugins|routes|test|bench|app|server)(/|\\.js$)',
          message: 'lib knows nothing of the HTTP layer.',
        },
        {
          regex: '^(fastify|@fastify/.*|fastify-plugin|get-jwks)$',
          message: 'lib knows no Fastify and no HTTP.',
        },
      ],
    }],
  },
}))

export default [
  { ignores: ['dist/**', 'node_modules/**', '.tap/**', '.cache/**', '.test-build/**', 'assembly/node_modules/**', 'assembly/*.ts'] },
  ...neostandard({ ts: true }),
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true } },
    plugins: { '@typescript-eslint': plugins['typescript-eslint'].plugin },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      // A schema and its type share a name on purpose; the compiler finds real redeclarations.
      '@typescript-eslint/no-redeclare': 'off',
      'no-void': ['error', { allowAsStatement: true }],
      '@stylistic/comma-dangle': ['error', 'always-multiline'],
      'max-lines': ['error', { max: 320, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['lib/**/*.ts', 'plugins/**/*.ts', 'routes/**/*.ts', 'app.ts'],
    ignores: ['lib/config/**'],
    rules: {
      'no-restricted-properties': ['error', { object: 'process', property: 'env', message: 'lib/config is the only reader of the environment.' }],
    },
  },
  {
    // A tap test is started by calling it; tap itself waits for it.
    files: ['test/**/*.ts'],
    rules: { '@typescript-eslint/no-floating-promises': 'off' },
  },
  ...boundaries,
]
