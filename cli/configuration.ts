import { applyEnvFile } from '../lib/config/env-file.js'

/** Where the configuration comes from, as options say. */
export interface ConfigOptions {
  config?: string
  envFile?: string
}

/** The option wins over the variable. */
export function applyConfigOption ({ config }: ConfigOptions): void {
  if (config !== undefined) process.env['SERVICES_CONFIG_PATH'] = config
}

/**
 * Brings the environment of the process to what a server started in this folder with these options would see.
 * @throws ConfigurationError
 */
export function applyConfiguration (options: ConfigOptions): void {
  applyConfigOption(options)
  applyEnvFile(process.env, process.cwd(), options.envFile)
}
