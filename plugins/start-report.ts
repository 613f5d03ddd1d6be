import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../lib/config/schema.js'
import { missingVariables } from '../http/missing-auth-variables.js'

/** What runs, in words for an operator. No secret, no connection URI. */
export interface StartReport {
  url: string
  docs: string
  auth_mode: string
  vector_store: string
  /** Undefined for a class of the operator's own, which nobody here knows. */
  durable: boolean | undefined
  language_model: string
  embedding: string
  reranker: string
  access_control: string
  metrics: string
  /** Files that the configuration comes from, beside the environment. */
  configuration: string
}

const DURABLE: ReadonlyMap<string, boolean> = new Map([['in_memory', false], ['postgres', true], ['pglite', true]])
const LASTS = { true: 'memories outlive the process', false: 'memories are lost when the process ends', undefined: 'whether memories last depends on the class' }
const ANY_ADDRESS = new Set(['0.0.0.0', '::'])

/** @param envFile the file of variables that was read, if any. The app has to listen already. */
export function startReport (
  app: FastifyInstance,
  config: Config,
  { envFile, configPath }: { envFile: string | undefined, configPath: string | undefined },
): StartReport {
  const { file } = config
  const url = urlOf(app.server.address())
  const { vector_store: store = 'in_memory', llm_provider: llm = 'mock', embedding_provider: embedding = 'mock', reranker } = file
  const models = app.memory.modelNames()
  return {
    url,
    docs: `${url}/docs`,
    auth_mode: config.auth.mode,
    vector_store: store,
    durable: DURABLE.get(store),
    language_model: named(llm, models.languageModel),
    embedding: named(embedding, models.embedding),
    reranker: reranker === undefined ? 'none' : named(reranker, models.reranker),
    access_control: file.access_control?.enabled === true ? `on, default policy ${file.access_control.default_policy ?? 'owner_only'}` : 'off',
    metrics: app.metrics.url ?? `${url}/metrics`,
    configuration: [configPath ?? 'no file', ...(envFile === undefined ? [] : [envFile])].join(', '),
  }
}

/** Lines for people, the values below each other. */
export function reportLines (report: StartReport, config: Config): string {
  const auth = missingVariables(config.auth)
  const note = auth.length > 0 ? ` (${auth.join(', ')} not set: every request is answered with 500)` : config.auth.mode === 'dev' ? ' (trusts every caller; for development)' : ''
  const rows: Array<[string, string]> = [
    ['listens on', `${report.url}${ANY_ADDRESS.has(config.host) ? ' and every other address of this machine' : ''}`],
    ['documentation', report.docs],
    ['configuration', report.configuration],
    ['authentication', `${report.auth_mode}${note}`],
    ['access control', report.access_control],
    ['vector store', `${report.vector_store}: ${LASTS[`${report.durable}`]}`],
    ['language model', report.language_model],
    ['embedding', report.embedding],
    ['reranker', report.reranker],
    ['metrics', `${report.metrics}${config.metricsPort === undefined && config.adminToken !== undefined ? ' (with X-Admin-Token)' : ''}`],
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  return `\nMemory Gateway\n${rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`).join('')}\n`
}

/** A provider as the configuration names it, and its model where that says more. */
function named (provider: string, model: string | undefined): string {
  return model === undefined || model === provider || model === 'custom' ? provider : `${provider} (${model})`
}

/** An address that people can open: one that stands for all is none. */
function urlOf (address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') return String(address)
  const host = ANY_ADDRESS.has(address.address) ? '127.0.0.1' : address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}
