import { applyMigrations } from '../../scripts/apply-migrations.js'
import { applyConfiguration, type ConfigOptions } from '../configuration.js'
import { endOnInterrupt } from '../interrupt.js'

/** Applies the missing migrations; what was done is told a line each. */
export async function migrate (options: ConfigOptions): Promise<void> {
  endOnInterrupt()
  applyConfiguration(options)
  await applyMigrations(process.env, (line) => { process.stdout.write(`${line}\n`) })
}
