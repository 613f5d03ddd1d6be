import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { testApp } from '../helpers/app.js'

interface Target { expr: string }
interface Panel {
  id: number,
  type: string,
  title: string,
  targets?: Target[],
  gridPos: {
    x: number
    y: number
    w: number
    h: number
  }
}
interface Dashboard { panels: Panel[], templating: { list: Array<{ name: string, definition?: string }> } }
interface Rule {
  alert: string,
  expr: string,
  for?: string,
  labels: { severity: string },
  annotations: {
    summary: string
    description?: string
  }
}

const read = (path: string) => readFileSync(new URL(`../../ops/${path}`, import.meta.url), 'utf8')
const dashboard = JSON.parse(read('grafana/memory-gateway.json')) as Dashboard
const alerts = parse(read('prometheus/alerts.yaml')) as { groups: Array<{ rules: Rule[] }> }
const rules = alerts.groups.flatMap(({ rules }) => rules)
const queries = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: title, expr }))),
  ...dashboard.templating.list.flatMap(
    ({ name, definition }) => definition === undefined ? [] : [{ where: name, expr: definition }],
  ),
  ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
]

const { app, get } = await testApp(t)
/** Each metric that the gateway tells of, with the names of its labels as far as they are declared. */
const types = new Map([...(await get('/metrics')).body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(
  ([, name, type]) => [name!, type!],
))
const routes = new Set(app.routeTable.map(({ url }) => url))

/** Names as a query writes them, without the content of quotation marks and braces. */
function namesIn (expr: string): string[] {
  return expr.replaceAll(/\{[^}]*\}|"[^"]*"/g, '').match(/\b(?:memory_gateway|nodejs|process)_\w+/g) ?? []
}

await t.test('every metric in the dashboard and the alerts is one that the gateway exposes', async (t) => {
  for (const { where, expr } of queries) {
    const names = namesIn(expr)
    if (where !== 'MemoryGatewayDown') t.ok(names.length > 0, where)
    for (const name of names) {
      const histogram = name.replace(/_(bucket|count|sum)$/, '')
      t.ok(types.has(name) || types.get(histogram) === 'histogram', `${name} of ${where}`)
    }
  }
})

await t.test('every metric of the gateway\'s own is on the dashboard', async (t) => {
  const shown = new Set(queries.slice(0, -rules.length).flatMap(({ expr }) => namesIn(expr)).map((name) => (
    name.replace(/_(bucket|count|sum)$/, '')
  )))
  t.same([...types.keys()].filter((name) => name.startsWith('memory_gateway_') && !shown.has(name)), [])
})

await t.test('queries use the rate of counters, and the value of gauges', async (t) => {
  for (const { where, expr } of queries) {
    const rated = new Set([...expr.matchAll(/\b(?:rate|increase)\((\w+)/g)].map(([, name]) => name))
    for (const name of namesIn(expr)) t.equal(rated.has(name), types.get(name) !== 'gauge', `${name} of ${where}`)
  }
})

await t.test('every route in a query exists', async (t) => {
  const named = queries.flatMap(({ expr }) => (
    [...expr.matchAll(/route(=|!=|=~|!~)"([^"]*)"/g)].map(
      ([, operator, value]) => ({ operator: operator!, value: value! }),
    )
  ))
  t.ok(named.length > 3)
  for (const { operator, value } of named) {
    for (const one of operator.endsWith('~') ? value.split('|') : [value]) {
      const pattern = new RegExp(`^(?:${one})$`)
      t.ok(operator.endsWith('~') ? [...routes].some((route) => pattern.test(route)) : routes.has(one), one)
    }
  }
})

await t.test('the panels have unique ids and do not overlap', async (t) => {
  t.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length)
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) => Array.from(
    { length: w * h }, (_, index) => `${x + index % w},${y + Math.floor(index / w)}`,
  ))
  t.equal(new Set(cells).size, cells.length)
  for (const { gridPos: { x, w } } of dashboard.panels) t.ok(x + w <= 24)
})

await t.test('every alert has a unique name, a severity, and a summary that says what to do', async (t) => {
  t.equal(
    parseAllDocuments(read('prometheus/alerts.yaml')).flatMap(({ errors, warnings }) => (
      [...errors, ...warnings]
    )).length,
    0,
  )
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
  for (const { alert, labels, annotations, for: duration } of rules) {
    t.match(alert, /^MemoryGateway[A-Z]\w+$/)
    t.match(labels.severity, /^(warning|critical)$/, alert)
    t.match(annotations.summary, /: \w+|, and \w+/, alert)
    if (duration !== undefined) t.match(duration, /^\d+m$/, alert)
  }
})

await t.test('the brackets of every query are closed', async (t) => {
  for (const { where, expr } of queries) {
    const plain = expr.replaceAll(/"[^"]*"/g, '')
    for (const [open, close] of ['()', '{}', '[]']) {
      t.equal(plain.split(open!).length, plain.split(close!).length, where)
    }
  }
})
