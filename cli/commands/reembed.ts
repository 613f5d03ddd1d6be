import { reembedBanks } from '../../scripts/reembed-banks.js'
import { applyConfiguration, type ConfigOptions } from '../configuration.js'
import { endOnInterrupt } from '../interrupt.js'
import { note, writeJson } from '../output.js'

interface ReembedCommandOptions extends ConfigOptions {
  bank?: string
  tenant?: string
  batch: number
  json?: boolean
}

/** Gives every memory a vector of the configured provider. */
export async function reembed (
  { bank, tenant, batch, json = false, ...options }: ReembedCommandOptions,
): Promise<void> {
  endOnInterrupt()
  applyConfiguration(options)
  const info = json ? note : (line: string) => { process.stdout.write(`${line}\n`) }
  const done = await reembedBanks(process.env, { bank, tenant, batch }, { info, warn: note })
  if (json) await writeJson(done)
}
