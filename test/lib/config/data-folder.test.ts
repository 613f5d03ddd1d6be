/* eslint no-template-curly-in-string: off -- ${NAME} is what the configuration file has in its texts */
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../../lib/config/load.js'
import { ConfigurationError } from '../../../lib/config/problems.js'

t.test('a folder for memories selects the store pglite in that folder', (t) => {
  const cwd = t.testdir({
    'none.yaml': 'embedding_provider: mock\n',
    'pglite.yaml': 'vector_store: pglite\nvector_store_config: {data_dir: elsewhere, pool_wait_ms: 5}\n',
    'variable.yaml': 'vector_store_config: {pool_wait_ms: "${WAIT}"}\n',
    'memory.yaml': 'vector_store: in_memory\n',
  })
  const load = (file: string | undefined, dataFolder: string) => (
    loadConfig(file === undefined ? {} : { SERVICES_CONFIG_PATH: file, WAIT: '5' }, { cwd, dataFolder }).file
  )
  const store = (folder: string) => ({ vector_store: 'pglite', vector_store_config: { data_dir: folder } })
  t.same(load(undefined, 'memories'), store(join(cwd, 'memories')))
  t.match(load('none.yaml', '/srv/memories'), { ...store('/srv/memories'), embedding_provider: 'mock' })
  t.same(load('pglite.yaml', 'memories').vector_store_config, { data_dir: join(cwd, 'memories'), pool_wait_ms: 5 })
  t.same(load('variable.yaml', 'memories').vector_store_config, { data_dir: join(cwd, 'memories'), pool_wait_ms: 5 })
  const error = t.throws(() => load('memory.yaml', 'memories'))
  t.type(error, ConfigurationError)
  t.match(error, { message: /vector_store: found "in_memory", but a folder for memories \(--data\) requires pglite/ })
  t.end()
})
