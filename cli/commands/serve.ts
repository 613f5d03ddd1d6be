import { applyConfigOption, type ConfigOptions } from '../configuration.js'
import { serve } from '../serve.js'

export interface ServeCommandOptions extends ConfigOptions {
  data?: string
  port?: number
}

/** Options stand for variables and win over them; then it is the start as everywhere. */
export async function serveCommand ({ data, port, envFile, ...options }: ServeCommandOptions): Promise<void> {
  applyConfigOption(options)
  if (port !== undefined) process.env['SERVICES_PORT'] = String(port)
  await serve({ envFile, dataFolder: data })
}
