import { applyEnvFile } from '../lib/config/env-file.js'

/** The options that choose the configuration. */
export interface ConfigOptions {
  config?: string
  envFile?: string
}

/** The option takes precedence over the variable. */
export function applyConfigOption ({ config }: ConfigOptions): void {
  if (config !== undefined) process.env['SERVICES_CONFIG_PATH'] = config
}

/**
 * Reads the file of variables that the option names, and none without the option.
 * @throws ConfigurationError
 */
export function applyNamedEnvFile ({ envFile }: ConfigOptions): void {
  if (envFile !== undefined) applyEnvFile(process.env, process.cwd(), envFile)
}

/**
 * Sets the environment of the process to that of a server started in this folder with these options.
 * @throws ConfigurationError
 */
export function applyConfiguration (options: ConfigOptions): void {
  applyConfigOption(options)
  applyEnvFile(process.env, process.cwd(), options.envFile)
}
