import { join } from 'node:path'
import t, { type Test } from 'tap'
import { embeddingProviders, languageModels } from '../../../../lib/models/registry.js'
import {
  makeProvider, ProviderError, refuseUnknownKeys, type ProviderKind,
} from '../../../../lib/config/providers/registry.js'
import { InMemoryVectorStore } from '../../../../lib/stores/in-memory/store.js'
import { vectorStores } from '../../../../lib/stores/registry.js'
import { VECTOR_STORE_METHODS } from '../../../../lib/stores/vector-store.js'
import { rejection } from '../../../helpers/rejection.js'

interface Greeter {
  greet (): string
  close (): Promise<void>
}

const greeters: ProviderKind<Greeter> = {
  key: 'greeter',
  methods: ['greet', 'close'],
  registered: {
    plain: (config) => ({ greet: () => `hello ${String(config['name'])}`, close: async () => {} }),
    polite: () => ({ greet: () => 'good day', close: async () => {} }),
  },
}

/** A folder with one module. */
function folder (t: Test, source: string): string {
  return t.testdir({ 'greeter.mjs': source })
}

const GREETER = `export class Greeter {
  constructor (config) { this.config = config }
  greet () { return 'hello ' + this.config.name }
  async close () {}
}
export { Greeter as default }`

async function refusal (name: string, directory: string, config: Record<string, unknown> = {}): Promise<string> {
  return (await rejection(ProviderError, makeProvider(greeters, name, config, directory))).message
}

t.test('a registered name creates the provider with its configuration', async (t) => {
  const greeter = await makeProvider(greeters, 'plain', { name: 'Alice' }, '/nowhere')
  t.equal(greeter.greet(), 'hello Alice')
})

t.test('the names in the README are registered', async (t) => {
  t.ok(await makeProvider(vectorStores, 'in_memory', {}, '/nowhere') instanceof InMemoryVectorStore)
  t.equal((await makeProvider(embeddingProviders, 'mock', {}, '/nowhere')).dimensions, 256)
  t.type((await makeProvider(languageModels, 'mock', {}, '/nowhere')).generate, 'function')
})

t.test('the built-in providers refuse settings that they do not know, by name', async (t) => {
  for (const [kind, name] of [[embeddingProviders, 'mock'], [languageModels, 'mock']] as const) {
    await t.rejects(
      makeProvider(kind as ProviderKind<object>, name, { url: 'sk-secret' }, '/nowhere'),
      new ProviderError(`${kind.key}_config: url is not a known key; there is nothing to set`),
    )
  }
})

t.test('the in-memory store accepts a bound of its bytes, and nothing else', async (t) => {
  const make = async (config: Record<string, unknown>) => (
    await makeProvider(vectorStores, 'in_memory', config, '/nowhere')
  )
  t.ok(await make({ max_bytes: 2 ** 20 }) instanceof InMemoryVectorStore)
  await t.rejects(make({ url: 'sk-secret' }), { name: 'ProviderError', message: /^vector_store_config\.url: / })
  await t.rejects(make({ max_bytes: 'sk-secret' }), {
    name: 'ProviderError', message: /^vector_store_config\.max_bytes: (?!.*sk-secret)/,
  })
})

t.test('unknown keys are named, together with the known ones', async (t) => {
  t.throws(() => { refuseUnknownKeys('x_config', { a: 1, b: 2, c: 3 }, ['a']) }, new ProviderError(
    'x_config: b, c are not known keys; allowed are a',
  ))
  t.doesNotThrow(() => { refuseUnknownKeys('x_config', { a: 1 }, ['a', 'b']) })
})

t.test('an unknown name is refused with the allowed names, and the nearest of them', async (t) => {
  const refused = (name: string) => (
    `greeter: found ${JSON.stringify(name)}, allowed are plain, polite and module:Class`
  )
  for (const name of ['nobody', '', 'toString', '__proto__', 'constructor', ':Greeter', ':']) {
    t.equal(await refusal(name, '/nowhere'), refused(name))
  }
  for (const [name, meant] of [['Plain', 'plain'], ['plain:', 'plain'], ['plite', 'polite']] as const) {
    t.equal(await refusal(name, '/nowhere'), `${refused(name)}; did you mean "${meant}"?`)
  }
})

t.test('a class in a file is found relative to the given folder, whatever the working directory is', async (t) => {
  const directory = folder(t, GREETER)
  for (const [name, base] of [
    ['./greeter.mjs:Greeter', directory],
    [`../${directory.split('/').at(-1)}/greeter.mjs:Greeter`, directory],
    [`${join(directory, 'greeter.mjs')}:Greeter`, '/nowhere'],
    ['./greeter.mjs:default', directory],
  ] as const) {
    t.equal((await makeProvider(greeters, name, { name: 'Bob' }, base)).greet(), 'hello Bob', name)
  }
})

t.test('a file whose name contains a colon or a space is found too', async (t) => {
  const directory = t.testdir({ 'a:b #%20.mjs': GREETER })
  t.equal((await makeProvider(greeters, './a:b #%20.mjs:Greeter', { name: 'Bob' }, directory)).greet(), 'hello Bob')
})

t.test('a class in a package is found', async (t) => {
  const caches: ProviderKind<Map<string, string>> = { key: 'cache', methods: ['get', 'set'], registered: {} }
  const cache = await makeProvider(caches, 'lru-cache:LRUCache', { max: 1 }, '/nowhere')
  cache.set('a', '1').set('b', '2')
  t.equal(cache.get('a'), undefined, 'it got its configuration')
  t.equal(cache.get('b'), '2')
  const emitters: ProviderKind<{ on (): void }> = { key: 'emitter', methods: ['on'], registered: {} }
  t.type((await makeProvider(emitters, 'node:events:EventEmitter', {}, '/nowhere')).on, 'function')
})

t.test('the constructor receives the configuration map itself', async (t) => {
  const config = Object.freeze({ name: 'Alice', nested: Object.freeze({ list: [1] }) })
  const greeter = await makeProvider(greeters, './greeter.mjs:Greeter', config, folder(t, GREETER))
  t.equal(Reflect.get(greeter, 'config'), config)
})

t.test('a module that is missing, or does not load, is refused', async (t) => {
  const directory = folder(t, 'throw new Error("no licence")')
  t.match(await refusal('./absent.mjs:Greeter', directory), /^greeter: the module ".\/absent.mjs" cannot be loaded: /)
  t.match(
    await refusal('no-such-package-anywhere:Greeter', directory),
    /^greeter: the module "no-such-package-anywhere" cannot be loaded: /,
  )
  t.equal(
    await refusal('./greeter.mjs:Greeter', directory),
    'greeter: the module "./greeter.mjs" cannot be loaded: no licence',
  )
  t.match(
    await refusal('./broken.mjs:Greeter', t.testdir({ 'broken.mjs': 'export class {' })),
    /^greeter: the module ".\/broken.mjs" cannot be loaded: /,
  )
})

t.test('an export that is missing or not a class is refused with the existing exports', async (t) => {
  const directory = folder(t, 'export class Other {}; export const Greeter = { greet () {} }')
  t.equal(
    await refusal('./greeter.mjs:Gretter', directory),
    'greeter: "./greeter.mjs" exports no class Gretter; it exports Greeter, Other',
  )
  t.equal(
    await refusal('./greeter.mjs:Greeter', directory),
    'greeter: "./greeter.mjs" exports no class Greeter; it exports Greeter, Other',
  )
  for (const name of ['toString', '__proto__', 'constructor']) {
    t.equal(
      await refusal(`./greeter.mjs:${name}`, directory),
      `greeter: "./greeter.mjs" exports no class ${name}; it exports Greeter, Other`,
    )
  }
  t.equal(
    await refusal('./empty.mjs:Greeter', t.testdir({ 'empty.mjs': '' })),
    'greeter: "./empty.mjs" exports no class Greeter; it exports nothing',
  )
})

t.test('a function that is not a class is refused', async (t) => {
  t.match(
    await refusal('./greeter.mjs:make', folder(t, 'export const make = () => ({ greet () {}, close () {} })')),
    /^greeter: .\/greeter.mjs:make could not be made: .*not a constructor/,
  )
  t.equal(
    await refusal('./odd.mjs:Odd', t.testdir({ 'odd.mjs': 'export function Odd () { return () => {} }' })),
    'greeter: ./odd.mjs:Odd is not a class',
  )
})

t.test('a class that lacks methods is refused with their names', async (t) => {
  const directory = folder(t, 'export class Greeter { greet = "hello" }; export class Half { greet () {} }')
  t.equal(await refusal('./greeter.mjs:Greeter', directory), 'greeter: ./greeter.mjs:Greeter lacks greet(), close()')
  t.equal(await refusal('./greeter.mjs:Half', directory), 'greeter: ./greeter.mjs:Half lacks close()')
  await t.rejects(
    makeProvider(vectorStores, './greeter.mjs:Half', {}, directory),
    new ProviderError('vector_store: ./greeter.mjs:Half lacks ' +
      `${VECTOR_STORE_METHODS.map((name) => `${name}()`).join(', ')}`),
  )
})

t.test('methods may be inherited, or be fields', async (t) => {
  const directory = folder(
    t, 'class Base { greet () { return "inherited" } }; export class Greeter extends Base { close = async () => {} }',
  )
  t.equal((await makeProvider(greeters, './greeter.mjs:Greeter', {}, directory)).greet(), 'inherited')
})

t.test('a constructor that throws is refused with its reason, and the cause is kept', async (t) => {
  const directory = folder(
    t,
    'export class Greeter { constructor () { throw new TypeError("name must be set") } }; export class Odd { ' +
      'constructor () { throw "no" } }',
  )
  t.equal(
    await refusal('./greeter.mjs:Greeter', directory),
    'greeter: ./greeter.mjs:Greeter could not be made: name must be set',
  )
  t.equal(await refusal('./greeter.mjs:Odd', directory), 'greeter: ./greeter.mjs:Odd could not be made: no')
  await t.rejects(
    makeProvider(greeters, './greeter.mjs:Greeter', {}, directory), { cause: new TypeError('name must be set') },
  )
})

t.test('no message contains a value of the configuration map', async (t) => {
  const config = {
    url: 'postgres://gateway:hunter2@db.internal:5432/memories',
    token: 'sk-12345',
    nested: { list: ['deep-secret', 31337] },
    empty: '',
  }
  const directory = folder(t, `
    export class Whole { constructor (config) { throw new Error('cannot use ' + JSON.stringify(config)) } }
    export class Parts { constructor ({ url, nested }) {
      const { hostname, password } = new URL(url)
      throw new Error(password + ' is wrong at ' + hostname + ', ' + nested.list)
    } }
    export class Lacking { constructor (config) { Object.assign(this, config) } }
    export const notAClass = 1`)
  for (const name of ['Whole', 'Parts', 'Lacking', 'notAClass', 'absent']) {
    const message = await refusal(`./greeter.mjs:${name}`, directory, config)
    t.notMatch(message, /hunter2|gateway:|db\.internal|5432|sk-12345|deep-secret|31337/, name)
    t.match(message, /^greeter: /)
  }
  t.equal(
    await refusal('./greeter.mjs:Parts', directory, config),
    'greeter: ./greeter.mjs:Parts could not be made: … is wrong at …, …,…', 'the remaining message says what happened',
  )
})
