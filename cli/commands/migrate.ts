import { applyMigrations, type MigrateOptions } from '../../scripts/apply-migrations.js'
import { applyConfiguration, type ConfigOptions } from '../configuration.js'
import { endOnInterrupt } from '../interrupt.js'
import { note, writeJson } from '../output.js'

interface Options extends ConfigOptions, MigrateOptions {
  json?: boolean
}

/** Applies the missing migrations and prints a line for each; with --json these lines go to standard error. */
export async function migrate ({ json = false, distribute, shards, partitions, ...options }: Options): Promise<void> {
  endOnInterrupt()
  applyConfiguration(options)
  const applied = await applyMigrations(
    process.env, json ? note : (line) => { process.stdout.write(`${line}\n`) }, { distribute, shards, partitions },
  )
  if (json) await writeJson({ applied })
}
