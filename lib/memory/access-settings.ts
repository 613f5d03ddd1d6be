import type { AccessSettings } from '../access/access-control.js'
import type { FileConfig } from '../config/schema.js'
import { settingsOf } from '../config/settings.js'

/** Who may do what on which banks, as a configuration file says it. */
export function accessSettings (file: FileConfig): AccessSettings {
  return settingsOf(file).access
}
