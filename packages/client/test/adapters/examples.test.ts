import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'

const ROOT = new URL('../../../../', import.meta.url)
const FOLDER = new URL('examples/agents/', ROOT)

t.test('docs/agents.md contains every example of an agent unchanged', (t) => {
  const document = readFileSync(new URL('docs/agents.md', ROOT), 'utf8')
  const shown = [...document.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code)
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'))
  t.ok(names.length >= 4)
  t.same(shown.sort(), names.map((name) => readFileSync(new URL(name, FOLDER), 'utf8')).sort())
  t.end()
})
