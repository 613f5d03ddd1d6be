import neostandard, { plugins } from 'neostandard'

/** The modules of lib/ and those that each may import. lib/README.md lists the contents of each. */
export const modules = {
  base: [],
  text: ['base'],
  access: ['base'],
  config: ['base', 'access'],
  stores: ['base', 'access', 'config', 'text'],
  models: ['base', 'config', 'text', 'answering'],
  ranking: ['base', 'access', 'text', 'stores', 'models'],
  answering: ['base', 'access', 'text', 'stores', 'models', 'ranking'],
  operations: ['base', 'access', 'config', 'text', 'stores', 'models', 'ranking', 'answering'],
}

const everyModule = Object.keys(modules)

const boundaries = Object.entries(modules).map(([name, allowed]) => ({
  files: [`lib/${name}/**/*.ts`],
  rules: {
    '@typescript-eslint/no-restricted-imports': ['error', {
      patterns: [
        {
          regex: `^(\\.\\./)+(${everyModule.filter((other) => other !== name && !allowed.includes(other)).join('|')})/`,
          message: `lib/${name} may import ` +
            `${allowed.map((other) => `lib/${other}`).join(', ') || 'no other module'}; ` +
            'lib/README.md lists what each module may import.',
        },
        {
          regex: '^(\\.\\./)+(cli|http|mcp|plugins|routes|test|bench|app|embedded|index|server)(/|\\.js$)',
          message: 'lib does not import the HTTP layer or the programs.',
        },
        {
          regex: '^(fastify|@fastify/.*|fastify-plugin|get-jwks)$',
          message: 'lib imports neither Fastify nor its plugins.',
        },
      ],
    }],
  },
}))

/** Names that are no other words, and the sentences about those that are. */
const HEADER_NAME = String.raw`/\b(content-(type|encoding|length)|idempotency-key|if-(none-)?match|retry-after|` +
  'user-agent|www-authenticate|x-(request-id|api-key|admin-token|service-[a-z-]+)|' +
  String.raw`(accept|allow|etag|host|origin|vary) header)\b/i`
const STATUS = '/^status(Code)?$/'

/** lib does not know HTTP: one table, http/error-responses.ts, maps the codes of errors to statuses and headers. */
const NO_HTTP = [
  {
    selector: `:matches(Literal[value=${HEADER_NAME}], TemplateElement[value.raw=${HEADER_NAME}])`,
    message: 'lib knows no HTTP header: what is about headers belongs to http/, plugins/ or routes/.',
  },
  {
    selector: 'BinaryExpression[right.raw=/^[1-5][0-9][0-9]$/]' +
      `:matches([left.name=${STATUS}], [left.property.name=${STATUS}])`,
    message: 'lib knows no HTTP status: http/error-responses.ts maps codes to statuses.',
  },
  {
    selector: 'Identifier[name="statusCode"]',
    message: 'lib knows no HTTP status: http/error-responses.ts maps codes to statuses.',
  },
]

/** Long templates and regular expressions are composed of parts. */
const MAX_LENGTH = ['error', { code: 120, ignoreUrls: true }]

/** Files that are no TypeScript, or none that compiles here. */
const PLAIN_TEXT = ['**/*.css', 'assembly/*.ts', 'test/generators/uses/**']

/** Reads them as empty programs, so that only their lines are checked. */
const plainText = {
  meta: { name: 'plain-text' },
  parse: (text) => ({
    type: 'Program',
    body: [],
    tokens: [],
    comments: [],
    range: [0, text.length],
    loc: { start: { line: 1, column: 0 }, end: { line: text.split('\n').length, column: 0 } },
  }),
}

export default [
  {
    ignores: [
      'dist/**', 'node_modules/**', '.tap/**', '.cache/**', '.test-build/**', 'assembly/node_modules/**',
      'packages/*/dist/**', 'packages/*/src/generated/**',
    ],
  },
  ...neostandard({ ts: true }),
  {
    files: ['**/*.ts', '**/*.tsx'],
    ignores: PLAIN_TEXT,
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
      'max-lines': ['warn', { max: 600 }],
    },
  },
  {
    files: [
      'lib/**/*.ts', 'http/**/*.ts', 'mcp/**/*.ts', 'plugins/**/*.ts', 'routes/**/*.ts', 'app.ts', 'embedded.ts',
      'index.ts',
    ],
    ignores: ['lib/config/**'],
    rules: {
      'no-restricted-properties': ['error', {
        object: 'process',
        property: 'env',
        message: 'lib/config is the only reader of the environment.',
      }],
    },
  },
  {
    // A test is started by calling it; the runner itself waits for it.
    files: ['test/**/*.ts', 'packages/*/test/**/*.ts', 'packages/*/frameworks/**/*.ts'],
    rules: { '@typescript-eslint/no-floating-promises': 'off' },
  },
  {
    // A handler that a component is given is named for what it does.
    files: ['console/**/*.tsx'],
    rules: { 'react/jsx-handler-names': 'off' },
  },
  { files: PLAIN_TEXT, languageOptions: { parser: plainText } },
  { rules: { '@stylistic/max-len': MAX_LENGTH } },
  ...boundaries,
  {
    // Clients of endpoints speak HTTP themselves; settings, and entity tags in bodies, describe what a caller sends.
    files: ['lib/**/*.ts'],
    ignores: [
      'lib/models/remote/**', 'lib/config/**', 'lib/operations/bank-configurations.ts',
      'lib/operations/schemas/banks.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', ...NO_HTTP] },
  },
]
