import t from 'tap'
import { loadYaml, yamlProblems } from './load-with.js'

await t.test('a bank and a pattern may choose a profile of the file', async (t) => {
  const { file } = loadYaml('profiles: {support: {mission: Help.}}\nbanks: {team: {profile: support}, "team-*": ' +
    '{profile: support}, "*": {}}')
  t.same(file.banks, { team: { profile: 'support' }, 'team-*': { profile: 'support' }, '*': {} })
  t.same(file.profiles, { support: { mission: 'Help.' } })
})

await t.test('a profile that does not exist is a problem that names the path and the nearest profile', async (t) => {
  t.match(
    yamlProblems('profiles: {support: {}}\nbanks: {"team-*": {profile: suport}, home: {profile: support}}'),
    [/^banks\.team-\*\.profile: found .*suport.*under profiles.*support/],
  )
  for (const name of ['nothing', 'toString', 'constructor']) {
    t.match(yamlProblems(`banks: {home: {profile: ${name}}}`), [/^banks\.home\.profile: /])
  }
  t.equal(yamlProblems('banks: {a: {profile: x}, b: {profile: y}}').length, 2, 'every profile is reported')
})

await t.test('a profile contains sections, but neither grants nor another profile', async (t) => {
  t.match(yamlProblems('profiles: {support: {access: []}}'), [/^profiles\.support\.access is not a known key/])
  t.match(yamlProblems('profiles: {support: {profile: other}}'), [/^profiles\.support\.profile is not a known key/])
  t.match(
    yamlProblems('profiles: {support: {homeostasis: {recall_max_tokens: 0}}}'),
    [/^profiles\.support\.homeostasis\.recall_max_tokens: /],
  )
  t.match(yamlProblems('profiles: {"a b": {}}'), [/^profiles/])
})
