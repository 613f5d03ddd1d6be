import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../lib/config/config.js'
import { missingVariables } from '../http/missing-auth-variables.js'

/** The configuration in force, for the operator, without secrets and connection URIs. */
interface StartReport {
  url: string
  docs: string
  /** Undefined when the console is off. */
  console?: string
  auth_mode: string
  vector_store: string
  /** Undefined for a custom provider. */
  durable: boolean | undefined
  language_model: string
  embedding: string
  reranker: string
  access_control: string
  metrics: string
  /** The configuration file and the file of variables, as far as they were read. */
  configuration: string
}

const DURABLE: ReadonlyMap<string, boolean> = new Map([['in_memory', false], ['postgres', true], ['pglite', true]])
const DURABILITY = {
  true: 'memories outlive the process',
  false: 'memories are lost when the process ends',
  undefined: 'whether memories outlive the process depends on the class',
}
const ANY_ADDRESS = new Set(['0.0.0.0', '::'])

/** Call it when the app listens. @param envFile the file of variables that was read, if any */
export function startReport (
  app: FastifyInstance,
  config: Config,
  { envFile, configPath }: { envFile: string | undefined, configPath: string | undefined },
): StartReport {
  const { vectorStore, languageModel, embeddings, reranker, access } = config.settings
  const url = urlOf(app.server.address())
  const models = app.memory.modelNames()
  return {
    url,
    docs: `${url}/docs`,
    ...(hasConsole(app) && { console: `${url}/console/` }),
    auth_mode: config.auth.mode,
    vector_store: vectorStore.name,
    durable: DURABLE.get(vectorStore.name),
    language_model: named(languageModel.name, models.languageModel),
    embedding: named(embeddings.name, models.embedding),
    reranker: reranker === undefined ? 'none' : named(reranker.name, models.reranker),
    access_control: access.enabled ? `on, default policy ${access.defaultPolicy}` : 'off',
    metrics: app.metrics.url ?? `${url}/metrics`,
    configuration: [configPath ?? 'no file', ...(envFile === undefined ? [] : [envFile])].join(', '),
  }
}

/** The report as aligned lines for people. */
export function reportLines (report: StartReport, config: Config): string {
  const missing = missingVariables(config.auth)
  const authNote = missing.length > 0
    ? ` (${missing.join(', ')} not set: every request is answered with 500)`
    : config.auth.mode === 'dev' ? ' (trusts every caller; for development)' : ''
  const metricsNote = config.metricsPort === undefined && config.adminToken !== undefined ? ' (with X-Admin-Token)' : ''
  const rows: Array<[string, string]> = [
    ['listens on', `${report.url}${ANY_ADDRESS.has(config.host) ? ' and every other address of this machine' : ''}`],
    ['documentation', report.docs],
    ['console', report.console ?? 'off'],
    ['configuration', report.configuration],
    ['authentication', `${report.auth_mode}${authNote}`],
    ['access control', report.access_control],
    ['vector store', `${report.vector_store}: ${DURABILITY[`${report.durable}`]}`],
    ['language model', report.language_model],
    ['embedding', report.embedding],
    ['reranker', report.reranker],
    ['metrics', `${report.metrics}${metricsNote}`],
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  return `\nMemory Gateway\n${rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`).join('')}\n`
}

function hasConsole (app: FastifyInstance): boolean {
  return app.routeTable.some(({ url }) => url === '/console/')
}

/** The provider as the configuration names it, with its model when that has another name. */
function named (provider: string, model: string | undefined): string {
  return model === undefined || model === provider || model === 'custom' ? provider : `${provider} (${model})`
}

/** A URL that people can open: the wildcard address becomes 127.0.0.1. */
function urlOf (address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') return String(address)
  const local = ANY_ADDRESS.has(address.address) ? '127.0.0.1' : address.address
  const host = local.includes(':') ? `[${local}]` : local
  return `http://${host}:${address.port}`
}
