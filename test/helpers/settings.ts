import type { FileConfig } from '../../lib/config/schema.js'
import type { BankKey } from '../../lib/access/context.js'
import type { OpenBank } from '../../lib/operations/bank-directory.js'
import { OperatorSettings } from '../../lib/operations/operator-settings.js'

/** The settings of a configuration file on a server with the mock models. */
export function operatorSettings (file: FileConfig = {}): OperatorSettings {
  return new OperatorSettings(file, { semanticWeight: 0, hasReranker: false, canExtract: false })
}

/** Gives banks the settings of a configuration file. */
export function bankResolver (file: FileConfig = {}): (key: BankKey) => Pick<OpenBank, 'key' | 'settings'> {
  const settings = operatorSettings(file)
  return (key) => ({ key, settings: settings.of(key.bankId) })
}
