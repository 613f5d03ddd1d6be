import {
  loadCommandConfig, loadConfig, type CommandConfig, type CommandUse, type LoadOptions,
} from '../../../lib/config/load.js'
import type { Config } from '../../../lib/config/config.js'
import { ConfigurationError } from '../../../lib/config/problems.js'
import type { Environment } from '../../../lib/config/environment.js'

/** The files that a test pretends there are, by absolute path. */
export type Files = Readonly<Record<string, string>>

/** Loads with pretended files only; relative paths start at /work. */
export function load (env: Environment, files: Files = {}): Config {
  return loadConfig(env, optionsOf(files))
}

/** Loads what a command uses, with pretended files only. */
export function loadCommand (env: Environment, use: CommandUse, files: Files = {}): CommandConfig {
  return loadCommandConfig(env, use, optionsOf(files))
}

function optionsOf (files: Files): LoadOptions {
  return { cwd: '/work', readFile: (path) => read(files, path), exists: (path) => Object.hasOwn(files, path) }
}

/** Loads with this configuration file. */
export function loadYaml (yaml: string, env: Environment = {}, files: Files = {}): Config {
  return load({ SERVICES_CONFIG_PATH: '/etc/gateway.yaml', ...env }, { ...files, '/etc/gateway.yaml': yaml })
}

/** What is wrong, or an empty list. */
export function problemsOf (run: () => unknown): string[] {
  try {
    run()
    return []
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems
    throw error
  }
}

export function problems (env: Environment, files: Files = {}): string[] {
  return problemsOf(() => load(env, files))
}

export function yamlProblems (yaml: string, env: Environment = {}, files: Files = {}): string[] {
  return problemsOf(() => loadYaml(yaml, env, files))
}

function read (files: Files, path: string): string {
  const text = files[path]
  if (text === undefined) throw Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT' })
  return text
}
