import type * as accessControl from '../../lib/access/access-control.js'
import type * as configLoad from '../../lib/config/load.js'
import type * as memoryService from '../../lib/operations/memory-service.js'
import { configurationOf, type Setting } from './setting.js'

export interface BuiltService {
  service: memoryService.MemoryService
  /**
   * Applies another setting to all further recalls; its embedder and the settings that affect writes must be the same.
   */
  applySetting (setting: Pick<Setting, 'pipeline' | 'embedder'>): void
}

/**
 * The same code that the gateway runs: dist/, not the sources as a loader would compile them. The store is in memory.
 */
export async function builtService (setting: Pick<Setting, 'pipeline' | 'embedder'>): Promise<BuiltService> {
  const built = (path: string) => new URL(`../../dist/lib/${path}.js`, import.meta.url).href
  const { createMemoryService }: typeof memoryService = await import(built('operations/memory-service'))
  const { AccessControl }: typeof accessControl = await import(built('access/access-control'))
  const { loadConfig }: typeof configLoad = await import(built('config/load'))
  const load = (of: Pick<Setting, 'pipeline' | 'embedder'>) => loadConfig({ SERVICES_CONFIG_PATH: 'bench.yaml' }, {
    readFile: () => JSON.stringify(configurationOf(of)),
  })
  const config = load(setting)
  const service = await createMemoryService(config, new AccessControl(config.settings.access))
  return { service, applySetting: (other) => { service.replaceFile(load(other)) } }
}
