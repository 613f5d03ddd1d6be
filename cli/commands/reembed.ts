import { reembedBanks } from '../../scripts/reembed-banks.js'
import { applyConfiguration, type ConfigOptions } from '../configuration.js'
import { endOnInterrupt } from '../interrupt.js'
import { note } from '../output.js'

export interface ReembedCommandOptions extends ConfigOptions {
  bank?: string
  tenant?: string
  batch: number
}

/** Gives every memory a vector of the configured provider. */
export async function reembed ({ bank, tenant, batch, ...options }: ReembedCommandOptions): Promise<void> {
  endOnInterrupt()
  applyConfiguration(options)
  const chosen = { batch, ...(bank !== undefined && { bank }), ...(tenant !== undefined && { tenant }) }
  await reembedBanks(process.env, chosen, { say: (line) => { process.stdout.write(`${line}\n`) }, warn: note })
}
