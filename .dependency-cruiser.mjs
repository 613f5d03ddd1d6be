const ADAPTERS =
  '^packages/client/src/(ai-sdk|langchain|langchain-history|langchain-retriever|mastra|openai-agents)[.]ts$'
const TOOLS = '^packages/client/src/tools/'

/**
 * The layers of the code, and that no import is part of a circle.
 * @type {import('dependency-cruiser').IConfiguration}
 */
export default {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'Files that import each other cannot be loaded alone. Types are no import at run time.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'lib-is-the-lowest-layer',
      comment: 'lib does not know HTTP, so it imports only lib.',
      severity: 'error',
      from: { path: '^lib/' },
      to: { path: '^(cli|http|mcp|plugins|routes|scripts|app\\.ts|server\\.ts)' },
    },
    {
      name: 'http-is-below-plugins-and-routes',
      comment: 'http/ holds what plugins and routes share, so it imports neither.',
      severity: 'error',
      from: { path: '^http/' },
      to: { path: '^(cli|mcp|plugins|routes|scripts|app\\.ts|server\\.ts)' },
    },
    {
      name: 'mcp-knows-no-http-server',
      comment: 'mcp/ speaks the protocol over any transport, so it imports lib and nothing of the gateway beside it.',
      severity: 'error',
      from: { path: '^mcp/' },
      to: { path: '^(cli|http|plugins|routes|scripts|app\\.ts|server\\.ts)' },
    },
    {
      name: 'plugins-do-not-know-routes',
      severity: 'error',
      from: { path: '^plugins/' },
      to: { path: '^(cli|mcp|routes|scripts|app\\.ts|server\\.ts)' },
    },
    {
      name: 'routes-do-not-know-plugins',
      comment: 'Routes use what plugins decorate the instance with, and http/ for the rest.',
      severity: 'error',
      from: { path: '^routes/' },
      to: { path: '^(cli|plugins|scripts|app\\.ts|server\\.ts)' },
    },
    {
      name: 'packages-stand-alone',
      comment: 'What is published on its own imports nothing of the gateway, and the client nothing of Node.js.',
      severity: 'error',
      from: { path: '^packages/client/src/', pathNot: ADAPTERS },
      to: { pathNot: '^packages/client/src/' },
    },
    {
      name: 'wires-use-the-client',
      comment: 'The API of another product in front of a gateway knows it by its client.',
      severity: 'error',
      from: { path: '^packages/hindsight/src/' },
      to: { path: '^(cli|http|lib|mcp|plugins|routes|scripts|test|app\\.ts|index\\.ts|server\\.ts)' },
    },
    {
      name: 'adapters-know-their-framework',
      comment: 'The subpaths of the client for agent frameworks import these, which are optional peers.',
      severity: 'error',
      from: { path: ADAPTERS },
      to: { pathNot: '^packages/client/src/|^(node_modules/)?(ai|@langchain/core|@mastra/core|@openai/agents)(/|$)' },
    },
    {
      name: 'the-client-knows-no-tools',
      comment: 'Who uses the client alone loads nothing of tools and adapters.',
      severity: 'error',
      from: { path: '^packages/client/src/', pathNot: [ADAPTERS, TOOLS] },
      to: { path: [ADAPTERS, TOOLS] },
    },
    {
      name: 'console-is-a-caller',
      comment: 'The console knows the gateway by its public API, through the client.',
      severity: 'error',
      from: { path: '^console/' },
      to: { path: '^(lib|http|plugins|routes|app\\.ts|server\\.ts)' },
    },
    {
      name: 'product-does-not-know-tests',
      severity: 'error',
      from: { path: '^(lib|http|mcp|plugins|routes|app\\.ts|server\\.ts)' },
      to: { path: '^(test|bench|console|packages)/', pathNot: '^packages/client/src/index\\.ts$' },
    },
    {
      name: 'the-command-line-uses-the-client',
      comment: 'The client is compiled into dist/ with cli/, and nothing else of packages/ is.',
      severity: 'error',
      from: { path: '^cli/' },
      to: { path: '^(test|bench|packages/(?!client/src/index\\.ts$))' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules'] },
    exclude: { path: ['^test/fixtures/.*-package/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
}
