import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { RESTART_KEYS } from '../plugins/reload.js'
import { testApp } from './helpers/app.js'

const ROOT = process.cwd()
const MAX_COLUMNS = 120
/** Generated files, and files of other projects. */
const PASSED_OVER = new Set(['node_modules', 'dist', 'coverage'])

function documentsIn (folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.name.startsWith('.') || PASSED_OVER.has(entry.name)) return []
    if (entry.isDirectory()) return documentsIn(path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}

const documents = new Map(documentsIn('').map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))

/** The lines of a document, with their numbers, that are not within a block of code. */
function proseOf (text: string): Array<{ line: string, number: number }> {
  let isCode = false
  return text.split('\n').flatMap((line, index) => {
    const isFence = line.trimStart().startsWith('```')
    if (isFence) isCode = !isCode
    return isCode || isFence ? [] : [{ line, number: index + 1 }]
  })
}

/** A line without the addresses of its links, which cannot be broken. */
function withoutAddresses (line: string): string {
  return line.replaceAll(/\]\([^)]*\)/g, ']()').replaceAll(/https?:\/\/\S+/g, '')
}

interface Link {
  /** The path of the file from the root. */
  file: string
  anchor: string
  text: string
}

function linksOf (path: string, text: string): Link[] {
  const prose = proseOf(text).map(({ line }) => line).join('\n')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return []
    const [file = '', anchor = ''] = target.split('#')
    return [{ file: file === '' ? path : normalize(join(dirname(path), file)), anchor, text: target }]
  })
}

/** The anchors that GitHub gives the headings of a document. */
function anchorsOf (text: string): Set<string> {
  const anchors = new Set<string>()
  for (const { line } of proseOf(text)) {
    const [, heading] = /^#+ (.*)$/.exec(line) ?? []
    if (heading === undefined) continue
    const anchor = heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
    let unique = anchor
    for (let repeat = 1; anchors.has(unique); repeat++) unique = `${anchor}-${repeat}`
    anchors.add(unique)
  }
  return anchors
}

t.test('there are documents to check', async (t) => {
  for (const path of ['README.md', 'docs/README.md', 'lib/README.md']) t.ok(documents.has(path), path)
})

for (const [path, text] of documents) {
  t.test(`${path}: lines have at most ${MAX_COLUMNS} columns, except for tables, code and addresses`, async (t) => {
    const long = proseOf(text).filter(({ line }) => (
      !line.trimStart().startsWith('|') && [...withoutAddresses(line)].length > MAX_COLUMNS
    ))
    t.same(long.map(({ number, line }) => `${path}:${number}: ${line}`), [])
  })

  t.test(`${path}: the targets of its links exist`, async (t) => {
    const dead = linksOf(path, text).filter(({ file, anchor }) => {
      if (!existsSync(join(ROOT, file))) return true
      return anchor !== '' && !anchorsOf(documents.get(file) ?? '').has(anchor)
    })
    t.same(dead.map(({ text }) => text), [])
  })
}

/** Top-level folders whose files documents name in backticks. */
const NAMED_PATH = /`((?:lib|plugins|routes|http|mcp|cli|test|scripts|packages|examples|docs)\/[\w./-]+)`/g
/** A name in backticks and the link to the file that has it, in the form "`name` in [file](file)". */
const NAMED_IN_FILE = /`([\w.#]+)`[^`()[\].]{0,40}\s(?:in|of)\s+\[[^\]]*\]\(([^)#\s]+\.(?:ts|mjs))\)/g

t.test('paths in backticks exist', async (t) => {
  const missing = [...documents].flatMap(([document, text]) => (
    [...text.matchAll(NAMED_PATH)].filter(([, path = '']) => !existsSync(join(ROOT, path))).map(
      ([, path]) => `${document}: ${path}`,
    )
  ))
  t.same(missing, [])
})

t.test('a file has the name that a document says is in it', async (t) => {
  const named = [...documents].flatMap(([document, text]) => (
    [...text.matchAll(NAMED_IN_FILE)].map(([, name = '', file = '']) => (
      { document, name: name.split('.').at(-1)!, file: normalize(join(dirname(document), file)) }
    ))
  ))
  t.ok(named.length > 0)
  t.same(named.filter(({ name, file }) => !readFileSync(join(ROOT, file), 'utf8').includes(name)), [])
})

t.test('every document can be reached from the README', async (t) => {
  const reached = new Set(['README.md'])
  // A set can grow while it is gone through.
  for (const path of reached) {
    for (const { file } of linksOf(path, documents.get(path) ?? '')) if (documents.has(file)) reached.add(file)
  }
  t.same([...documents.keys()].filter((path) => !reached.has(path)), [])
})

t.test('the table of keys that need a restart has each of them, and no other', async (t) => {
  const [, section = ''] = documents.get('docs/bank-configuration.md')!.split('## A changed file, without a restart')
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, key]) => key!))
  // The row of the providers stands for the settings of each as well.
  const keys = RESTART_KEYS.map((key) => key.join('.')).filter((key) => !key.endsWith('_config'))
  t.same(named.filter((key) => key !== '_config').sort(), keys.sort())
})

t.test('the table of routes has a line for every route, and no other', async (t) => {
  const { app } = await testApp(t)
  const { paths } = (await app.inject('/openapi.json')).json<{ paths: Record<string, Record<string, unknown>> }>()
  const described = Object.entries(paths).flatMap(([path, methods]) => (
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
  ))
  const table = documents.get('docs/http-api.md')!.split('\n').filter((line) => /^\| `[A-Z]+ \//.test(line))
  const listed = table.flatMap((line) => (
    [...(line.split('|')[1] ?? '').matchAll(/`([A-Z]+ [^`]+)`/g)].map(([, route]) => route!)
  ))
  // What is no part of the contract that /openapi.json describes.
  const own = new Set(['GET /', 'GET /openapi.json', 'GET /docs', 'GET /metrics'])
  t.ok(described.length > 20, 'there are routes')
  t.same(listed.filter((route) => !own.has(route)).sort(), described.sort())
})
