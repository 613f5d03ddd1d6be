import t from 'tap'
import { loadYaml, problems, yamlProblems } from './load-with.js'

await t.test('a file without content is an empty configuration', async (t) => {
  for (const text of ['', '\n', '# only a comment\n', '---\n', 'null', '~', '{}', '\uFEFF']) {
    t.same(loadYaml(text).file, {}, JSON.stringify(text))
  }
})

await t.test('the top level of the file is a map', async (t) => {
  const kinds = { '- a': 'a list', '[]': 'an empty list', text: '"text"', 5: '5', true: 'true' }
  for (const [text, kind] of Object.entries(kinds)) {
    t.same(yamlProblems(text), [`the configuration file: found ${kind}, allowed is a map`], text)
  }
})

await t.test('a path that cannot be read is a problem', async (t) => {
  t.same(problems({ SERVICES_CONFIG_PATH: 'gone.yaml' }), ['SERVICES_CONFIG_PATH: found "gone.yaml", which cannot be ' +
    'read (no such file), allowed is the path of a YAML file'])
  t.notMatch(
    problems({ SERVICES_CONFIG_PATH: 'postgres://user:hunter2@db/main' }).join(), 'hunter2',
    'not even a connection URI in the wrong variable',
  )
})

await t.test('syntax errors contain the line and the column', async (t) => {
  const faults = {
    'a: [1\nb: 2': 'line 2, column 1: the indentation is wrong, or a bracket is not closed',
    'homeostasis:\n\trecall_max_tokens: 1': 'line 2, column 1: tabs may not indent',
    'vector_store: "a': 'line 1, column 17: a character is missing, such as a quote, a colon or a comma',
    'vector_store: "\\q"': 'line 1, column 16: a double-quoted text has an escape that is not known',
    'vector_store: @a': 'line 1, column 15: a text that begins with this character needs quotes',
    'vector_store: a: b': 'line 1, column 15: a text with a colon in it needs quotes, or the indentation is wrong',
    'a: 1\n---\nb: 2': 'line 2, column 1: the file has several documents, allowed is one',
    'vector_store: !env NAME': 'line 1, column 15: a tag that is not known, or does not fit its value',
    'vector_store: !!binary aGVsbG8=': 'line 1, column 15: a tag that is not known, or does not fit its value',
    'vector_store: !!int x': 'line 1, column 15: a tag that is not known, or does not fit its value',
    '%YAML 1.1\n---\nvector_store: a': 'the %YAML directive asks for another version, allowed is 1.2',
    '%FOO bar\n---\nvector_store: a': 'line 1, column 1: a directive that is not known',
  }
  for (const [text, fault] of Object.entries(faults)) {
    t.equal(yamlProblems(text)[0], `/etc/gateway.yaml: ${fault}`, JSON.stringify(text))
  }
})

await t.test('a syntax error does not hide the problems of the environment', async (t) => {
  t.match(yamlProblems('a: [', { SERVICES_PORT: 'x' }), [/^SERVICES_PORT/, /^\/etc\/gateway.yaml: /])
})

await t.test('a key that is given twice is a problem, however it is written', async (t) => {
  t.same(yamlProblems('vector_store: a\nvector_store: a'), ['vector_store: the key is given twice (line 2, column 1)'])
  t.same(
    yamlProblems('vector_store_config:\n  n: {7: a, "7": b}'),
    ['vector_store_config.n.7: the key is given twice (line 2, column 13)'],
  )
})

await t.test('a key is read as the text that is written', async (t) => {
  const { banks } = loadYaml('banks:\n  007: {}\n  7: {}\n  true: {}\n  1e3: {}').file
  t.same(Object.keys(banks ?? {}).sort(), ['007', '1e3', '7', 'true'])
})

await t.test('a key that is not a text is a problem', async (t) => {
  for (const text of ['[a]: 1', '? {a: 1}\n: 1', ': 1']) {
    t.match(yamlProblems(text), [/^the configuration file: a key is not a text \(line 1, column \d\)$/], text)
  }
})

await t.test('names of prototype members are keys like any other', async (t) => {
  t.match(
    yamlProblems('__proto__: 1\nconstructor: 2\ntoString:'),
    [
      /^__proto__ is not a known key, allowed are "vector_store", /, /^constructor is not a known key/,
      /^toString is not a known key/,
    ],
  )
  t.match(yamlProblems('banks:\n  __proto__: {}\n'), [
    /^banks: found the key "__proto__", allowed is a bank id of letters/,
  ])
  t.match(
    yamlProblems('access_control: {__proto__: {enabled: true}}'), [/^access_control.__proto__ is not a known key/],
  )
  const { vector_store_config: config } = loadYaml('vector_store_config: {__proto__: {polluted: true}}').file
  t.ok(Object.hasOwn(config ?? {}, '__proto__'), 'kept as a key')
  t.equal(Object.getPrototypeOf(config), Object.prototype, 'and not as a prototype')
})

await t.test('looking up a bank or source by the name of a method finds nothing', async (t) => {
  const { banks, sources } = loadYaml('banks: {a: {}}\nsources: {b: {type: webhook, target_bank: a, auth: ' +
    '{type: none}}}').file
  t.equal(banks?.['constructor'], undefined)
  t.equal(sources?.['toString'], undefined)
  t.same(loadYaml('banks: {constructor: {access: []}}').file.banks?.['constructor'], { access: [] })
})

await t.test('aliases are replaced, within bounds', async (t) => {
  const { homeostasis, banks } = loadYaml('homeostasis: &h {recall_max_tokens: 5}\nbanks: {a: {homeostasis: *h}}').file
  t.same(banks?.['a']?.homeostasis, homeostasis)

  const bomb = ['x0: &x0 [lol]']
  for (let level = 1; level <= 9; level++) {
    bomb.push(`x${level}: &x${level} [${Array(9).fill(`*x${level - 1}`).join(', ')}]`)
  }
  const found = yamlProblems(`vector_store_config:\n  ${bomb.join('\n  ')}\n`)
  t.equal(found.length, 1)
  t.match(found[0], 'the file has too many aliases, allowed are 100, counted after they are replaced')
})

await t.test('an alias without an anchor or within itself is a problem', async (t) => {
  t.same(yamlProblems('vector_store: *hunter2'), [
    'vector_store: an alias without an anchor before it (line 1, column 15)',
    'vector_store: found nothing, allowed is a text that is not empty',
  ])
  t.same(yamlProblems('vector_store_config: &a {b: [*a]}'), ['vector_store_config.b[0]: an alias that contains ' +
    'itself (line 1, column 30)'])
})

await t.test('a file that is nested too deeply is a problem, not a crash', async (t) => {
  for (const opener of ['[', '{a: ', '- ', '? ']) {
    t.match(
      yamlProblems(opener.repeat(5_000))[0], /^\/etc\/gateway.yaml: line \d+, column \d+: /, JSON.stringify(opener),
    )
  }
})

await t.test('an empty section or list counts as absent', async (t) => {
  const empty = 'homeostasis:\nbanks:\nsources:\naccess_grants:\nvector_store_config:\naccess_control:\nbarriers:\n  ' +
    'metadata:\n    blocked_keys:\n'
  t.same(loadYaml(empty).file, { barriers: { metadata: {} } })
  t.same(
    yamlProblems('sources:\n  tickets:'), ['sources.tickets: found nothing, allowed is a map'],
    'a source is not removed',
  )
  t.same(
    yamlProblems('vector_store:'), ['vector_store: found nothing, allowed is a text that is not empty'], 'nor a text',
  )
})

await t.test('relative paths of providers are resolved against the folder of the file', async (t) => {
  t.equal(loadYaml('').baseDirectory, '/etc')
  t.equal(
    loadYaml('', { SERVICES_CONFIG_PATH: 'conf/a.yaml' }, { '/work/conf/a.yaml': '' }).baseDirectory, '/work/conf',
  )
})
