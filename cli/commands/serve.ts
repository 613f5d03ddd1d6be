import { applyConfigOption, type ConfigOptions } from '../configuration.js'
import { holdHangups } from '../hangup.js'

interface ServeCommandOptions extends ConfigOptions {
  data?: string
  port?: number
}

/** Sets the variables that the options override, then starts the server as without the command line. */
export async function serveCommand ({ data, port, envFile, ...options }: ServeCommandOptions): Promise<void> {
  // The server's modules take about a second to load, in which SIGHUP would end the process.
  holdHangups()
  const { serve } = await import('../serve.js')
  applyConfigOption(options)
  if (port !== undefined) process.env['SERVICES_PORT'] = String(port)
  await serve({ envFile, dataFolder: data })
}
